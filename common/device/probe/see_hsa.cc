#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "device/probe/see.h"
#include "device/probe/vendor_library.h"

namespace arena {

namespace {

using Code = int;
constexpr Code kSuccess = 0;
constexpr Code kOutOfResources = 0x1008;  // what hsa_init answers where /dev/kfd cannot be opened
struct Agent {
  std::uint64_t handle;
};
using Plain = Code();
using AgentCallback = Code(Agent, void*);
using IterateAgents = Code(AgentCallback*, void*);
using AgentInfo = Code(Agent, int attribute, void*);
using SystemInfo = Code(int attribute, void*);
using StatusText = Code(Code, const char**);

constexpr int kName = 0;         // char[64]: gfx942
constexpr int kDeviceType = 17;  // 0 CPU, 1 GPU
constexpr int kDriverNode = 0xa004;
constexpr int kBdfId = 0xa006;
constexpr int kProductName = 0xa009;  // char[64]
constexpr int kDomain = 0xa00f;
constexpr int kUuid = 0xa011;  // char[21]: GPU-8f3a2c1d01111112, or GPU-XX
constexpr int kGpu = 1;

struct Walk {
  AgentInfo* info;
  std::vector<SeenDevice> devices;
};

template <class Value>
Value ask(const Walk& walk, Agent agent, int attribute) {
  Value value{};
  return walk.info(agent, attribute, &value) == kSuccess ? value : Value{};
}

std::string ask_text(const Walk& walk, Agent agent, int attribute) {
  std::array<char, 256> text{};
  return walk.info(agent, attribute, text.data()) == kSuccess ? std::string(trim(text.data())) : "";
}

Code look_at_agent(Agent agent, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  if (ask<int>(walk, agent, kDeviceType) != kGpu) return kSuccess;
  SeenDevice seen;
  const auto bdf = ask<std::uint32_t>(walk, agent, kBdfId);
  seen.pci_address = {ask<std::uint32_t>(walk, agent, kDomain), static_cast<std::uint8_t>(bdf >> 8 & 0xff),
                      static_cast<std::uint8_t>(bdf >> 3 & 0x1f), static_cast<std::uint8_t>(bdf & 7)};
  seen.arch = ask_text(walk, agent, kName);
  seen.name = ask_text(walk, agent, kProductName);
  seen.node = ask<std::uint32_t>(walk, agent, kDriverNode);
  if (const std::string uuid = to_lower(ask_text(walk, agent, kUuid));
      uuid.starts_with("gpu-") && uuid.size() == 20)
    seen.unique_id = uuid.substr(4);
  walk.devices.push_back(std::move(seen));
  return kSuccess;
}

std::string explain(const VendorLibrary& library, Code status) {
  const char* text = nullptr;
  call_if_there(library.find<StatusText>("hsa_status_string"), -1, status, &text);
  return fmt::format("{} (HSA status 0x{:x})", text != nullptr ? text : "unknown error", status);
}

std::string version_of(const VendorLibrary& library) {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  auto* const info = library.find<SystemInfo>("hsa_system_get_info");
  if (info == nullptr || info(0, &major) != kSuccess || info(1, &minor) != kSuccess) return "";
  return fmt::format("{}.{}", major, minor);
}

}  // namespace

RuntimeView see_hsa() {
  RuntimeView view;
  view.kind = RuntimeKind::hsa;
  const auto library = VendorLibrary::open({"libhsa-runtime64.so.1"}, rocm_directories());
  if (!library) {
    view.state = library.error().code == ErrorCode::not_found ? SourceState::no_library : SourceState::failed;
    view.message = library.error().message;
    return view;
  }
  view.library = library->name();
  const Code status = call_if_there(library->find<Plain>("hsa_init"), -1);
  if (status != kSuccess) {
    view.state = status == kOutOfResources ? SourceState::no_device : SourceState::failed;
    view.message = fmt::format("hsa_init failed: {}", explain(*library, status));
    return view;
  }
  view.runtime_version = version_of(*library);
  Walk walk{library->find<AgentInfo>("hsa_agent_get_info"), {}};
  auto* const iterate = library->find<IterateAgents>("hsa_iterate_agents");
  if (walk.info == nullptr || iterate == nullptr || iterate(look_at_agent, &walk) != kSuccess) {
    view.message = "the HSA runtime does not list its agents";
    return view;
  }
  view.devices = std::move(walk.devices);
  view.state = view.devices.empty() ? SourceState::no_device : SourceState::ok;
  return view;
}

}  // namespace arena
