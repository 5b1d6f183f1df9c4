#pragma once
#include "model/event.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"

namespace arena {

// Appends to its writer's ledger with one write; not synced. A failed write is an error like any other (a
// full disk must be seen).
Status append_event(FileSystem& disk, const QueueLayout& layout, const Event& event);

}  // namespace arena
