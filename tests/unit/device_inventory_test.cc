#include "device/inventory.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "device/device_health.h"
#include "device/device_mask.h"
#include "device/device_proof.h"

namespace arena {
namespace {

std::string read_captured(const std::string& name) {
  std::ifstream file(ARENA_TEST_DATA "/devices/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

Device card(std::uint8_t bus) {
  Device device;
  device.vendor = DeviceVendor::amd;
  device.pci_address = {0, bus, 0, 0};
  device.unique_id = "8f3a2c1d000000" + std::to_string(10 + bus % 10);
  device.driver = "amdgpu";
  device.hip_index = 0;
  device.memory_used_bytes = 300 << 20;
  device.processes.emplace();
  return device;
}

// As rocm_smi tells of it: an index, partition 0, a few values.
Device told(std::int64_t index, std::uint8_t bus) {
  Device device;
  device.vendor = DeviceVendor::amd;
  device.pci_address = {0, bus, 0, 0};
  device.partition = 0;
  device.index = index;
  return device;
}

SourceReport source(SourceKind kind, SourceState state, std::vector<Device> devices,
                    std::string message = "") {
  SourceReport report;
  report.kind = kind;
  report.state = state;
  report.devices = std::move(devices);
  report.message = std::move(message);
  return report;
}

ProbeReport report_of(std::vector<Device> sysfs, SourceReport rocm_smi) {
  ProbeReport report;
  report.kfd.state = KfdAccess::State::ok;
  const SourceState state = sysfs.empty() ? SourceState::no_device : SourceState::ok;
  report.sources = {
      source(SourceKind::sysfs, state, std::move(sysfs)), std::move(rocm_smi),
      source(SourceKind::nvml, SourceState::no_library, {}, "libnvidia-ml.so.1 is not installed")};
  return report;
}

TEST_CASE("devices are joined by address, never by order") {
  Device first = card(0xc1);
  Device second = card(0xc6);
  first.hip_index = 1;
  Device told_first = told(1, 0xc1);
  told_first.temperature_c = 51;
  const Inventory inventory = join(
      report_of({second, first}, source(SourceKind::rocm_smi, SourceState::ok, {told(0, 0xc6), told_first})));
  REQUIRE(inventory.devices.size() == 2);
  CHECK(inventory.devices[0].pci_address.bus == 0xc1);
  CHECK(inventory.devices[0].index == 1);
  CHECK(inventory.devices[0].temperature_c == 51);
  CHECK_FALSE(inventory.devices[0].partition);
  CHECK(inventory.devices[1].index == 0);
  CHECK(inventory.problems.empty());
  CHECK(inventory.complete);
}

TEST_CASE("what rocm_smi misses is kept and said, and what only it lists is said") {
  const Inventory inventory =
      join(report_of({card(0xc1), card(0xc6)},
                     source(SourceKind::rocm_smi, SourceState::ok, {told(0, 0xc1), told(1, 0x99)})));
  REQUIRE(inventory.devices.size() == 2);
  CHECK_FALSE(inventory.devices[1].index);
  CHECK(inventory.devices[1].usability == Usability::usable);
  CHECK(inventory.devices[1].remarks ==
        std::vector<std::string>{"rocm_smi does not list it, so it has no index there"});
  REQUIRE(inventory.problems.size() == 1);
  CHECK(inventory.problems[0] == "rocm_smi lists 0000:99:00.0/0, which the kernel does not show");
}

TEST_CASE("a unique id that two sources tell differently is remarked, the kernel's stays") {
  Device other = told(0, 0xc1);
  other.unique_id = "ffffffffffffffff";
  const Inventory inventory =
      join(report_of({card(0xc1)}, source(SourceKind::rocm_smi, SourceState::ok, {other})));
  CHECK(inventory.devices[0].unique_id == card(0xc1).unique_id);
  CHECK(inventory.devices[0].remarks.size() == 1);
}

TEST_CASE("a device listed twice keeps its first index") {
  const Inventory inventory = join(
      report_of({card(0xc1)}, source(SourceKind::rocm_smi, SourceState::ok, {told(0, 0xc1), told(1, 0xc1)})));
  CHECK(inventory.devices[0].index == 0);
  CHECK(inventory.problems == std::vector<std::string>{"rocm_smi lists 0000:c1:00.0 twice, as 0 and 1"});
}

TEST_CASE("without rocm_smi devices are numbered by address; only its failure makes the answer incomplete") {
  const Inventory absent =
      join(report_of({card(0xc6), card(0xc1)},
                     source(SourceKind::rocm_smi, SourceState::no_library, {}, "it is not installed")));
  CHECK(absent.devices[1].index == 1);
  CHECK(absent.complete);
  CHECK(absent.problems.size() == 2);
  for (const SourceState state :
       {SourceState::failed, SourceState::hung, SourceState::no_driver, SourceState::no_permission}) {
    const Inventory failed = join(report_of({card(0xc1)}, source(SourceKind::rocm_smi, state, {}, "why")));
    CHECK_FALSE(failed.complete);
    CHECK(failed.problems.front() == "rocm_smi: why");
  }
}

TEST_CASE("a machine without GPUs is no problem of any source, and says what was looked for") {
  ProbeReport report =
      report_of({}, source(SourceKind::rocm_smi, SourceState::no_device, {}, "there is no AMD GPU"));
  report.kfd.state = KfdAccess::State::absent;
  const Inventory inventory = join(report);
  CHECK(inventory.devices.empty());
  CHECK(inventory.problems.empty());
  CHECK(inventory.complete);
  CHECK(inventory.why_none == "no AMD or NVIDIA GPU is on the PCI bus, and /dev/kfd does not exist");
}

TEST_CASE("NVIDIA GPUs come from NVML even where the bus is hidden") {
  Device nvidia;
  nvidia.vendor = DeviceVendor::nvidia;
  nvidia.pci_address = {0, 0x41, 0, 0};
  nvidia.index = 0;
  nvidia.unique_id = "GPU-1";
  ProbeReport report = report_of({}, source(SourceKind::rocm_smi, SourceState::no_library, {}));
  report.sources[2] = source(SourceKind::nvml, SourceState::ok, {nvidia});
  const Inventory inventory = join(report);
  REQUIRE(inventory.devices.size() == 1);
  CHECK(inventory.devices[0].usability == Usability::usable);
  CHECK(inventory.problems.empty());
}

TEST_CASE("an NVIDIA GPU on the bus without NVML is listed with the reason") {
  Device nvidia;
  nvidia.vendor = DeviceVendor::nvidia;
  nvidia.pci_address = {0, 0x41, 0, 0};
  const Inventory inventory =
      join(report_of({nvidia}, source(SourceKind::rocm_smi, SourceState::no_device, {})));
  CHECK(inventory.devices[0].usability == Usability::unusable);
  CHECK(inventory.devices[0].reason == "libnvidia-ml.so.1 is not installed");
}

TEST_CASE("a partition mode that KFD's nodes contradict is remarked") {
  Device lonely = card(0xc1);
  lonely.partition_mode = "CPX";
  const Inventory inventory =
      join(report_of({lonely}, source(SourceKind::rocm_smi, SourceState::ok, {told(0, 0xc1)})));
  CHECK(inventory.devices[0].remarks ==
        std::vector<std::string>{"its card is in mode CPX, but KFD shows 1 of it"});
}

TEST_CASE("each obstacle to using a device has its own reason") {
  const auto reason = [](auto change) {
    ProbeReport report;
    report.kfd.state = KfdAccess::State::ok;
    Device device = card(0xc1);
    change(report, device);
    judge_usability(report, device);
    CHECK((device.usability == Usability::usable) == device.reason.empty());
    return device.reason;
  };
  CHECK(reason([](ProbeReport&, Device&) {}).empty());
  CHECK(reason([](ProbeReport& report, Device&) {
          report.kfd = {KfdAccess::State::denied, "/dev/kfd may not be opened: group 'render'"};
        }) == "/dev/kfd may not be opened: group 'render'");
  CHECK(reason([](ProbeReport&, Device& device) { device.reason = "render node"; }) == "render node");
  CHECK(reason([](ProbeReport&, Device& device) { device.driver = "vfio-pci"; }) ==
        "no driver: it belongs to 'vfio-pci', not to amdgpu");
  CHECK(reason([](ProbeReport&, Device& device) { device.hung = "its values in /sys"; }) ==
        "hung: reading its values in /sys does not return");
  CHECK(reason([](ProbeReport&, Device& device) {
          device.processes = {{7, "python3", std::uint64_t{3} << 30}};
        }) == "in use by process 7 (python3) with 3.0 GiB");
  CHECK(reason([](ProbeReport&, Device& device) { device.memory_used_bytes = std::uint64_t{5} << 30; }) ==
        "stranded memory: 5.0 GiB are in use and no process holds them; reset the GPU");
  CHECK(reason([](ProbeReport&, Device& device) {
          device.memory_used_bytes = std::uint64_t{5} << 30;
          device.processes.reset();
        }).empty());
  CHECK(reason([](ProbeReport&, Device& device) { device.integrated = true; }) ==
        "integrated GPU: only used when --gpu-ids names it");
}

TEST_CASE("a healthy device is not sick, whatever its own worker does on it") {
  Device before = card(0xc1);
  before.ecc = EccCounts{1, 0};
  Device now = before;
  CHECK(find_sickness(before, now, {}).empty());
  now.processes = {{42, "task", std::uint64_t{100} << 30}};
  now.memory_used_bytes = std::uint64_t{101} << 30;
  CHECK(find_sickness(before, now, {42}).empty());
  now.ecc = EccCounts{1000, 0};
  CHECK(find_sickness(before, now, {42}).empty());
}

TEST_CASE("every sickness is found, with its reason") {
  Device before = card(0xc1);
  before.index = 3;
  before.ecc = EccCounts{0, 1};
  before.use_percent = 100;
  before.clock_mhz = 150;
  before.clock_max_mhz = 2100;
  const auto kind = [&](auto change) {
    std::optional<Device> now = before;
    now->use_percent = 0;
    change(now);
    const auto found = find_sickness(before, now, {42});
    REQUIRE(found.size() == 1);
    CHECK(found[0].reason.find("GPU 3 (0000:c1:00.0)") == 0);
    return found[0].kind;
  };
  CHECK(kind([](auto& now) { now.reset(); }) == SicknessKind::lost);
  CHECK(kind([](auto& now) { now->hung = "its values"; }) == SicknessKind::hung);
  CHECK(kind([](auto& now) { now->hip_index.reset(); }) == SicknessKind::no_access);
  CHECK(kind([](auto& now) {
          now->processes = {{42, "", 1}, {43, "x", 1}};
        }) == SicknessKind::foreign_process);
  CHECK(kind([](auto& now) { now->memory_used_bytes = std::uint64_t{9} << 30; }) ==
        SicknessKind::stranded_memory);
  CHECK(kind([](auto& now) { now->ecc->uncorrectable = 2; }) == SicknessKind::ecc_errors);
  CHECK(kind([](auto& now) { now->use_percent = 100; }) == SicknessKind::clock_stuck);
}

TEST_CASE("what was captured on a machine with an NVIDIA H200 is joined, masked and proved as it was there") {
  const auto report = parse_probe_report(read_captured("nvidia_list.json"));
  REQUIRE(report);
  const Inventory inventory = join(*report);
  CHECK(inventory.complete);
  CHECK(inventory.problems.empty());
  REQUIRE(inventory.devices.size() == 1);
  const Device& device = inventory.devices.front();
  CHECK(device.usability == Usability::usable);
  CHECK(device.index == 0);
  CHECK(device.driver == "nvidia");
  CHECK(device.name == "NVIDIA H200");
  CHECK(device.arch == "sm_90");
  const auto shown = nlohmann::ordered_json::parse(read_captured("nvidia_gpus.json"));
  REQUIRE(shown.size() == 1);
  CHECK(shown[0]["unique_id"] == device.unique_id);
  const DeviceMask mask = mask_for(device, Isolation::environment, inventory.devices);
  CHECK(shown[0]["mask"]["set"] == nlohmann::ordered_json(mask.set));
  CHECK(shown[0]["mask"]["unset"] == nlohmann::ordered_json(mask.unset));
  const auto seen = parse_runtime_views(read_captured("nvidia_see_0.json"));
  REQUIRE(seen);
  CHECK(check_proof(device, *seen, NodeNumbers::own));
  Device other = device;
  other.pci_address.bus = 7;
  const auto refused = check_proof(other, *seen, NodeNumbers::own);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("cuda sees 0000:00:06.0, assigned was 0000:07:06.0") !=
        std::string::npos);
}

}  // namespace
}  // namespace arena
