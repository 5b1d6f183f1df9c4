#include "model/sealed_yaml.h"

#include <limits>

#include <fmt/format.h>

#include "base/sealed_text.h"

namespace arena {

Error as_corrupt(Error error) {
  if (error.code == ErrorCode::invalid_input) error.code = ErrorCode::corrupt;
  return error;
}

Result<YamlNode> parse_sealed_yaml(std::string_view text, const std::string& name) {
  ARENA_ASSIGN(const std::string_view body, unseal(text, name));
  return parse_yaml(body, name).map_error(as_corrupt);
}

Status check_schema_version(MappingReader& reader, const std::string& name, int newest) {
  const std::int64_t version =
      reader.required_integer("schema_version", 1, std::numeric_limits<std::int64_t>::max());
  if (version <= newest) return {};
  return fail(
      ErrorCode::unsupported,
      fmt::format("'{}' has schema version {}, this arena reads up to {}: use the newer arena that wrote it",
                  name, version, newest));
}

}  // namespace arena
