#include "worker/kernel_stub.h"

#include <fmt/format.h>

#include "base/text.h"
#include "worker/untrusted_tree.h"

namespace arena {

namespace {

constexpr std::uint64_t kLargestSource = 16 << 20;

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool defines(std::string_view line, std::string_view name) {
  if (starts_with(line, "async ")) line.remove_prefix(6);
  if (!starts_with(line, "def ")) return false;
  line = trim(line.substr(4));
  return starts_with(line, name) && (line.size() == name.size() || !is_word(line[name.size()]));
}

// The text after the definition's colon: the first one outside brackets and quotes, as annotations and
// defaults hold others.
std::string_view body_of(std::string_view definition) {
  int depth = 0;
  for (std::size_t i = 0; i < definition.size(); ++i) {
    const char c = definition[i];
    if (c == '"' || c == '\'') {
      i = std::min(definition.find(c, i + 1), definition.size());
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ':' && depth == 0) return definition.substr(i + 1);
  }
  return {};
}

std::string_view without_doc_string(std::string_view body) {
  body = trim(body);
  for (const std::string_view quote : {"\"\"\"", "'''", "\"", "'"}) {
    const std::size_t start = starts_with(body, quote)                                       ? 0
                              : starts_with(body, "r") && starts_with(body.substr(1), quote) ? 1
                                                                                             : 2;
    if (start == 2) continue;
    const std::size_t end = body.find(quote, start + quote.size());
    return end == std::string_view::npos ? std::string_view() : trim(body.substr(end + quote.size()));
  }
  return body;
}

bool is_stub(std::string_view body) {
  std::string statements;  // without blank lines and comments
  for (const std::string_view line : lines_of(without_doc_string(body))) {
    const std::string_view text = trim(line);
    if (!text.empty() && text.front() != '#') statements += fmt::format("{}\n", text);
  }
  constexpr std::string_view kRaise = "raise NotImplementedError";
  if (!starts_with(statements, kRaise)) return false;
  // Whatever follows the raise is never reached: only its own argument matters, and that may span lines.
  return statements.size() == kRaise.size() || !is_word(statements[kRaise.size()]);
}

}  // namespace

KernelDefinition find_kernel_definition(std::string_view source, std::string_view name) {
  KernelDefinition found = KernelDefinition::missing;
  const std::vector<std::string_view> lines = lines_of(source);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!defines(lines[i], name)) continue;
    // The definition ends before the next line that starts in the first column, other than the closing of its
    // own header.
    std::size_t end = i + 1;
    while (end < lines.size() && (lines[end].empty() || contains(" \t\r#)", lines[end].substr(0, 1)))) ++end;
    const char* first = lines[i].data();
    const std::string_view last = lines[end - 1];
    const std::string_view definition(first, static_cast<std::size_t>(last.data() + last.size() - first));
    found = is_stub(body_of(definition)) ? KernelDefinition::stub : KernelDefinition::implemented;
  }
  return found;
}

std::string find_kernel_stubs(const fs::path& directory, const TaskSpec& spec) {
  for (const std::string& name : spec.target_functions) {
    KernelDefinition best = KernelDefinition::missing;
    for (const std::string& file : spec.source_files) {
      const auto source = read_beneath(directory, file, kLargestSource);
      if (source) best = std::max(best, find_kernel_definition(*source, name));
    }
    if (best == KernelDefinition::missing)
      return fmt::format("target function '{}' is not defined at top level", name);
    if (best == KernelDefinition::stub) return fmt::format("target function '{}' is still a stub", name);
  }
  return "";
}

}  // namespace arena
