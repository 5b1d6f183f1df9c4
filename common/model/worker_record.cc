#include "model/worker_record.h"

#include <limits>

#include "base/sealed_text.h"
#include "model/sealed_yaml.h"

namespace arena {

std::string write_worker_record(const WorkerRecord& record) {
  return seal(YamlWriter()
                  .string("worker_id", record.worker_id)
                  .integer("protocol_version", record.protocol_version)
                  .string("run_id", record.run_id)
                  .string("launcher", record.launcher)
                  .string("host", record.host)
                  .string("boot_id", record.boot_id)
                  .integer("pid", record.pid)
                  .integer("start_ticks", static_cast<std::int64_t>(record.start_ticks))
                  .string("container", record.container)
                  .string("device", record.device)
                  .string("reap_mode", record.reap_mode)
                  .string("started_at", record.started_at)
                  .string("version", record.version)
                  .take());
}

Result<WorkerRecord> read_worker_record(std::string_view text, const std::string& name) {
  constexpr std::int64_t kMaximum = std::numeric_limits<std::int64_t>::max();
  ARENA_ASSIGN(const YamlNode root, parse_sealed_yaml(text, name));
  MappingReader reader(root, name, "");
  WorkerRecord record;
  record.worker_id = reader.required_string("worker_id");
  record.protocol_version =
      static_cast<int>(reader.required_integer("protocol_version", 1, std::numeric_limits<int>::max()));
  record.run_id = reader.required_string("run_id");
  record.launcher = reader.required_string("launcher");
  record.host = reader.required_string("host");
  record.boot_id = reader.required_string("boot_id");
  record.pid = reader.required_integer("pid", 1, kMaximum);
  record.start_ticks = static_cast<std::uint64_t>(reader.required_integer("start_ticks", 0, kMaximum));
  record.container = reader.string("container").value_or("");
  record.device = reader.string("device").value_or("");
  record.reap_mode = reader.string("reap_mode").value_or("");
  record.started_at = reader.string("started_at").value_or("");
  record.version = reader.string("version").value_or("");
  // A coordinator of another version reads this to decide about adoption: keys that it does not know are no
  // damage.
  ARENA_TRY(reader.finish(UnknownKeys::ignore, nullptr).map_error(as_corrupt));
  return record;
}

}  // namespace arena
