#pragma once
// Reading files that arena itself wrote: whatever is wrong with one of them means that it was damaged, so
// every error of the parsers becomes ErrorCode::corrupt. Only a newer schema is told apart, as
// ErrorCode::unsupported.
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/yaml.h"

namespace arena {

// The document under the seal.
Result<YamlNode> parse_sealed_yaml(std::string_view text, const std::string& name);

// Error of a file of ours, as the caller acts on it.
Error as_corrupt(Error error);

// The key schema_version must be there and not above `newest`.
Status check_schema_version(MappingReader& reader, const std::string& name, int newest);

}  // namespace arena
