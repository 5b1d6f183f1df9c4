#pragma once
// The two parsers behind parse_yaml, apart for the tests that compare them. yaml-cpp takes about 90 ns a
// byte, too long for a queue of 10,000 descriptors, so the plain block style that descriptors and most
// configurations are written in is read directly. The direct reader never decides: what it does not know for
// sure, errors included, it leaves to yaml-cpp.
#include <optional>
#include <string>
#include <string_view>

#include "model/yaml.h"

namespace arena {

// Nothing unless `text` is a block mapping in printable ASCII of one-line scalars, lists of them and such
// mappings. Where it gives a node, parse_full_yaml gives the same.
std::optional<YamlNode> parse_simple_yaml(std::string_view text);

Result<YamlNode> parse_full_yaml(std::string_view text, const std::string& name);

}  // namespace arena
