#include "queue/event_ledger.h"

namespace arena {

Status append_event(FileSystem& disk, const QueueLayout& layout, const Event& event) {
  return disk.append(layout.events(event.writer), write_event(event), Sync::no);
}

}  // namespace arena
