#include "worker/agent_home.h"

#include <sys/stat.h>

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "os/environment.h"
#include "os/file_system.h"

namespace arena {

namespace {

using nlohmann::ordered_json;

constexpr int kDeepest = 32;

bool is_secret_name(const std::string& name) {
  const std::string lower = to_lower(name);
  return contains(lower, "token") || contains(lower, "key") || contains(lower, "secret");
}

// Empties the strings under `blank` and collects those that look like secrets.
void treat(ordered_json& value, const std::vector<std::string>& blank, std::vector<std::string>& secrets,
           int depth) {
  if (depth > kDeepest || !value.is_structured()) return;
  for (const auto& [key, item] : value.items()) {
    if (item.is_string() && value.is_object()) {
      if (is_secret_name(key)) secrets.push_back(item.get<std::string>());
      if (std::find(blank.begin(), blank.end(), key) != blank.end()) item = "";
    }
    treat(item, blank, secrets, depth + 1);
  }
}

Status copy_file(const AgentFile& file, const std::string& text, const fs::path& home, AgentHome& furnished) {
  RealFileSystem disk;
  std::string content = text;
  if (!file.blank_keys.empty() || file.login) {
    ordered_json parsed = ordered_json::parse(text, nullptr, false);
    if (parsed.is_structured()) {
      treat(parsed, file.blank_keys, furnished.secrets, 0);
      content = parsed.dump(2);
    } else if (!file.blank_keys.empty()) {
      // Better no login than one whose only refresh token ends up in every worker.
      furnished.notes.push_back(fmt::format("'{}' is no JSON: it was not copied", file.path));
      return {};
    }
  }
  const fs::path target = home / file.path;
  ARENA_TRY(make_directories(disk, target.parent_path()));
  ARENA_TRY(publish(disk, target, content, Sync::no, Replace::yes));
  if (::chmod(target.c_str(), 0600) != 0) return fail(error_from_errno(errno, "restrict", target.string()));
  furnished.has_login = furnished.has_login || file.login;
  return {};
}

}  // namespace

bool has_api_key(const AgentSpec& spec, const EnvironmentMap& environment) {
  return std::any_of(spec.api_keys.begin(), spec.api_keys.end(), [&](const std::string& name) {
    const auto found = environment.find(name);
    return found != environment.end() && !found->second.empty();
  });
}

Result<AgentHome> furnish_agent_home(const AgentSpec& spec, const fs::path& user_home, const fs::path& home,
                                     const EnvironmentMap& environment) {
  AgentHome furnished;
  if (user_home.empty()) return furnished;
  const bool has_key = has_api_key(spec, environment);
  RealFileSystem disk;
  for (const AgentFile& file : spec.files) {
    if (file.login && has_key) continue;
    const auto text = disk.read(user_home / file.path);
    if (!text && text.error().code == ErrorCode::not_found) continue;
    if (!text) return fail(text.error());
    ARENA_TRY(copy_file(file, *text, home, furnished));
    if (file.login && !file.blank_keys.empty()) {
      furnished.notes.push_back(fmt::format(
          "the login of '{}' is shared by all workers and none of them may renew it: when it runs out, "
          "the run stops; an API key ({}) has no such end",
          (user_home / file.path).string(), fmt::join(spec.api_keys, " or ")));
    }
  }
  return furnished;
}

EnvironmentMap agent_environment(const AgentSpec& spec, const AgentSettings& settings,
                                 const EnvironmentMap& caller, EnvironmentMap base, const fs::path& home) {
  std::vector<std::string> names = spec.environment_names;
  names.insert(names.end(), settings.env.begin(), settings.env.end());
  for (const auto& [name, value] : select_environment(caller, names)) base[name] = value;
  for (const auto& [name, value] : spec.environment) {
    const auto expanded = expand_placeholders(value, {{"home", home.string()}});
    base[name] = expanded.value_or(value);
  }
  return base;
}

}  // namespace arena
