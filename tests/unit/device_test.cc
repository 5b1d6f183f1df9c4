#include "device/device.h"

#include <cstring>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "device/device_proof.h"
#include "device/gpu_model.h"
#include "device/probe/gpu_metrics.h"
#include "device/probe/kfd_topology.h"
#include "device/probe_report.h"
#include "device/telemetry.h"

namespace arena {
namespace {

Device full_device() {
  Device device;
  device.vendor = DeviceVendor::amd;
  device.pci_address = {0, 0xc1, 0, 0};
  device.partition = 3;
  device.partition_mode = "CPX";
  device.index = 0;
  device.hip_index = 7;
  device.unique_id = "8f3a2c1d01111111";
  device.name = "AMD Instinct MI300X";
  device.arch = "gfx942";
  device.memory_bytes = std::uint64_t{192} << 30;
  device.memory_used_bytes = 5;
  device.numa_node = 1;
  device.render_node = "/dev/dri/renderD128";
  device.render_group = "render";
  device.driver = "amdgpu";
  device.kfd_node = 5;
  device.hsa_node = 4;
  device.kfd_gpu_id = 4711;
  device.integrated = true;
  device.temperature_c = 41.5;
  device.power_w = 140;
  device.clock_mhz = 132;
  device.clock_max_mhz = 2100;
  device.use_percent = 0;
  device.ecc = EccCounts{3, 1};
  device.processes = {{12, "python3", 99}, {13, "", std::nullopt}};
  device.hung = "its values in /sys";
  device.usability = Usability::by_name_only;
  device.reason = "integrated";
  device.remarks = {"one", "two"};
  return device;
}

RuntimeView view_of(RuntimeKind kind, std::vector<SeenDevice> devices) {
  RuntimeView view;
  view.kind = kind;
  view.state = devices.empty() ? SourceState::no_device : SourceState::ok;
  view.devices = std::move(devices);
  return view;
}

SeenDevice seen_at(std::uint8_t bus, std::optional<std::int64_t> node = std::nullopt) {
  SeenDevice seen;
  seen.pci_address = {0, bus, 0, 0};
  seen.node = node;
  return seen;
}

TEST_CASE("a PCI address is read in every spelling and written in one") {
  for (const char* text : {"0000:c1:00.0", "c1:00.0", "C1:00.0", "00000000:C1:00.0"})
    CHECK(parse_pci_address(text) == PciAddress{0, 0xc1, 0, 0});
  CHECK(to_string(PciAddress{0x10001, 0x0a, 0x1f, 7}) == "10001:0a:1f.7");
  CHECK(parse_pci_address("10001:0a:1f.7") == PciAddress{0x10001, 0x0a, 0x1f, 7});
  for (const char* text :
       {"", "c1", "c1:00", "c1:00.", "c1:00.8", "c1:20.0", "g1:00.0", "0:c1:00.0", "0000:c1:00.0 ",
        "0000:c1:00.00", "000000000:c1:00.0", "-001:c1:00.0", "0000:c1:00,0", "0000:0000:c1:00.0"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_pci_address(text));
  }
}

TEST_CASE("a device survives its way through JSON, whatever is known of it") {
  Device bare;
  bare.vendor = DeviceVendor::nvidia;
  for (const Device& device : {full_device(), bare}) {
    const auto read = device_from_json(to_json(device));
    REQUIRE(read);
    CHECK(*read == device);
  }
  CHECK(to_json(bare)["temperature_c"].is_null());
  CHECK(to_json(bare)["processes"].is_null());
  CHECK(to_json(full_device())["usable"] == false);
}

TEST_CASE("JSON that is no device is an error, not an empty device") {
  for (const char* text :
       {"{}", "[]", "3", R"({"vendor":"amd"})", R"({"vendor":"intel","pci_address":"0000:c1:00.0"})",
        R"({"vendor":"amd","pci_address":"c1"})",
        R"({"vendor":"amd","pci_address":"0000:c1:00.0","index":"zero"})"}) {
    CAPTURE(text);
    CHECK_FALSE(device_from_json(nlohmann::ordered_json::parse(text)));
  }
}

TEST_CASE("a device is named by address and partition") {
  CHECK(identity_of(full_device()) == "0000:c1:00.0/3");
  CHECK(describe(full_device()) == "GPU 0 (0000:c1:00.0/3)");
  Device unnumbered = full_device();
  unnumbered.index.reset();
  unnumbered.partition.reset();
  CHECK(describe(unnumbered) == "GPU 0000:c1:00.0");
}

TEST_CASE("a probe report survives its way through JSON, and a cut one is refused") {
  ProbeReport report;
  report.kfd = {KfdAccess::State::denied, "why"};
  report.sources.push_back(
      {SourceKind::rocm_smi, SourceState::hung, "m\n\x01", "lib", "5.2", "6.8", {full_device()}});
  const std::string text = to_json_text(report);
  const auto read = parse_probe_report(text);
  REQUIRE(read);
  CHECK(read->kfd.state == KfdAccess::State::denied);
  REQUIRE(read->find(SourceKind::rocm_smi) != nullptr);
  CHECK(read->find(SourceKind::rocm_smi)->devices == std::vector<Device>{full_device()});
  CHECK(read->find(SourceKind::nvml) == nullptr);
  for (std::size_t size = 0; size < text.size(); size += 7)
    CHECK_FALSE(parse_probe_report(text.substr(0, size)));
  CHECK_FALSE(parse_probe_report(R"({"format":2,"kfd":{"state":"ok","message":""},"sources":[]})"));
}

TEST_CASE("architectures are named as compilers name them") {
  CHECK(architecture_of(90402) == "gfx942");
  CHECK(architecture_of(90010) == "gfx90a");
  CHECK(architecture_of(120001) == "gfx1201");
  CHECK(architecture_of(90500) == "gfx950");
  CHECK(architecture_of(0).empty());
}

TEST_CASE("a proof needs exactly one device, at the assigned address") {
  Device assigned = full_device();
  assigned.partition.reset();
  const auto proof = [&](std::vector<SeenDevice> hip) {
    return check_proof(assigned, {view_of(RuntimeKind::hip, std::move(hip))}, NodeNumbers::shared);
  };
  CHECK(proof({seen_at(0xc1)}));
  const auto other = proof({seen_at(0xc6)});
  REQUIRE_FALSE(other);
  CHECK(other.error().code == ErrorCode::refused);
  CHECK(other.error().message.find("hip sees 0000:c6:00.0, assigned was 0000:c1:00.0") != std::string::npos);
  CHECK_FALSE(proof({}));
  const auto two = proof({seen_at(0xc1), seen_at(0xc6)});
  REQUIRE_FALSE(two);
  CHECK(two.error().message.find("2 devices (0000:c1:00.0, 0000:c6:00.0)") != std::string::npos);
  SeenDevice impostor = seen_at(0xc1);
  impostor.unique_id = "ffffffffffffffff";
  CHECK_FALSE(proof({impostor}));
  SeenDevice with_partition_in_function = seen_at(0xc1);
  with_partition_in_function.pci_address.function = 3;
  CHECK(proof({with_partition_in_function}));
  CHECK_FALSE(check_proof(assigned, {}, NodeNumbers::shared));
  CHECK_FALSE(check_proof(assigned, {view_of(RuntimeKind::cuda, {seen_at(0xc1)})}, NodeNumbers::shared));
}

TEST_CASE("a runtime that hung or is not installed proves nothing and says why") {
  Device assigned = full_device();
  RuntimeView view = view_of(RuntimeKind::hip, {});
  view.state = SourceState::hung;
  view.message = "the hip runtime did not answer in time";
  const auto proof = check_proof(assigned, {view}, NodeNumbers::shared);
  REQUIRE_FALSE(proof);
  CHECK(proof.error().message.find("did not answer in time") != std::string::npos);
}

TEST_CASE("of a card's partitions the node decides, where nodes are numbered alike") {
  const Device assigned = full_device();
  const auto proof = [&](std::optional<std::int64_t> node, NodeNumbers numbers) {
    return check_proof(
        assigned,
        {view_of(RuntimeKind::hip, {seen_at(0xc1)}), view_of(RuntimeKind::hsa, {seen_at(0xc1, node)})},
        numbers);
  };
  CHECK(proof(4, NodeNumbers::shared));
  CHECK_FALSE(proof(5, NodeNumbers::shared));
  CHECK(proof(1, NodeNumbers::own));
  CHECK_FALSE(check_proof(assigned, {view_of(RuntimeKind::hip, {seen_at(0xc1)})}, NodeNumbers::shared));
}

TEST_CASE("an NVIDIA worker is proved by CUDA, a CPU slot needs no proof") {
  Device assigned;
  assigned.vendor = DeviceVendor::nvidia;
  assigned.pci_address = {0, 0x41, 0, 0};
  CHECK(check_proof(assigned, {view_of(RuntimeKind::cuda, {seen_at(0x41)})}, NodeNumbers::shared));
  CHECK_FALSE(check_proof(assigned, {view_of(RuntimeKind::hip, {seen_at(0x41)})}, NodeNumbers::shared));
  CHECK(check_proof(Device{}, {}, NodeNumbers::shared));
}

TEST_CASE("what the runtimes saw survives its way through JSON") {
  RuntimeView view = view_of(RuntimeKind::hsa, {seen_at(0xc1, 4)});
  view.devices[0].arch = "gfx942";
  const auto read = parse_runtime_views(to_json_text(std::vector<RuntimeView>{view}));
  REQUIRE(read);
  REQUIRE(read->size() == 1);
  CHECK(read->front().devices.front().node == 4);
  CHECK(read->front().devices.front().arch == "gfx942");
  CHECK_FALSE(parse_runtime_views("{}"));
  CHECK_FALSE(parse_runtime_views(R"({"format":1,"views":[{"runtime":"metal"}]})"));
}

TEST_CASE("hardware of another architecture than the target is refused with its name") {
  const Device device = full_device();
  CHECK(check_gpu_model("MI300X", "gfx942", {device}));
  CHECK(check_gpu_model("MI999", "", {device}));
  const auto wrong = check_gpu_model("MI355X", "gfx950", {device});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == ErrorCode::refused);
  CHECK(wrong.error().message.find("MI355X means gfx950, but GPU 0 (0000:c1:00.0/3) is gfx942") !=
        std::string::npos);
  CHECK(wrong.error().message.find("--allow-gpu-mismatch") != std::string::npos);
  Device unknown = device;
  unknown.arch.clear();
  CHECK_FALSE(check_gpu_model("MI300X", "gfx942", {unknown}));
}

TEST_CASE("telemetry is summed up over the time of the step only") {
  using std::chrono::milliseconds;
  std::vector<TelemetrySample> samples;
  for (int i = 0; i < 5; ++i) {
    TelemetrySample sample;
    sample.steady = milliseconds(i * 100);
    sample.clock_mhz = 1000 + i;
    if (i == 2) sample.throttle = {"thermal"};
    samples.push_back(sample);
  }
  const TelemetrySummary summary = summarize_telemetry(samples, milliseconds(100), milliseconds(400));
  CHECK(summary.samples == 4);
  CHECK(summary.clock_mhz == TelemetryRange{1001, 1002.5, 1004});
  CHECK_FALSE(summary.power_w);
  CHECK(summary.throttle == std::vector<std::string>{"thermal"});
  const TelemetrySummary none = summarize_telemetry(samples, milliseconds(900), milliseconds(999));
  CHECK(none == TelemetrySummary{});
}

TEST_CASE("a telemetry line is read as it was written, and a cut one is refused") {
  TelemetrySample sample;
  sample.steady = std::chrono::milliseconds(17);
  sample.power_w = 131.5;
  sample.throttle.emplace();
  const std::string line = to_json_line(sample);
  const auto read = parse_telemetry_line(line);
  REQUIRE(read);
  CHECK(*read == sample);
  for (std::size_t size = 0; size < line.size(); ++size)
    CHECK_FALSE(parse_telemetry_line(line.substr(0, size)));
}

TEST_CASE("throttling is read from the driver's tables of formats 1.1 to 1.5, and from no other") {
  const auto table = [](int content, std::size_t offset, std::uint32_t bits, std::uint64_t common) {
    std::string bytes(256, '\0');
    bytes[0] = static_cast<char>(static_cast<unsigned char>(200));
    bytes[2] = 1;
    bytes[3] = static_cast<char>(content);
    std::memcpy(bytes.data() + offset, &bits, sizeof bits);
    if (content == 3) std::memcpy(bytes.data() + 112, &common, sizeof common);
    return bytes;
  };
  using Reasons = std::vector<std::string>;
  CHECK(parse_throttle_reasons(table(3, 68, 0, 0)) == Reasons{});
  CHECK(parse_throttle_reasons(table(3, 68, 1, std::uint64_t{1} << 36 | 2)) ==
        Reasons{"power cap", "thermal"});
  CHECK(parse_throttle_reasons(table(1, 68, 4, 0)) == Reasons{"throttled"});
  CHECK(parse_throttle_reasons(table(4, 40, 4, 0)) == Reasons{"throttled"});
  CHECK(parse_throttle_reasons(table(5, 104, 4, 0)) == Reasons{"throttled"});
  CHECK_FALSE(parse_throttle_reasons(table(4, 40, 0xffffffff, 0)));
  CHECK_FALSE(parse_throttle_reasons(table(6, 40, 4, 0)));
  CHECK_FALSE(parse_throttle_reasons(table(3, 68, 1, 0).substr(0, 100)));
  CHECK_FALSE(parse_throttle_reasons(""));
}

}  // namespace
}  // namespace arena
