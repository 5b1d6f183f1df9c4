#pragma once
// Descriptors of planned tasks, as they go into pending/.
#include <vector>

#include "model/run_record.h"
#include "model/task_descriptor.h"
#include "queue/queue_layout.h"

namespace arena {

TaskDescriptor fresh_descriptor(const RunRecord& record, const QueueLayout& layout, const PlannedTask& task);
std::vector<TaskDescriptor> fresh_descriptors(const RunRecord& record, const QueueLayout& layout);

}  // namespace arena
