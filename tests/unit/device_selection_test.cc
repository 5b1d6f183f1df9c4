#include "device/device_selection.h"

#include <doctest/doctest.h>

#include "coordinator/device_table.h"
#include "device/device_mask.h"

namespace arena {
namespace {

Device gpu(std::int64_t index, std::uint8_t bus, DeviceVendor vendor = DeviceVendor::amd) {
  Device device;
  device.vendor = vendor;
  device.pci_address = {0, bus, 0, 0};
  device.index = index;
  device.usability = Usability::usable;
  if (vendor == DeviceVendor::nvidia) {
    device.unique_id = "GPU-5c1f0a6e-1111-2222-3333-44445555666" + std::to_string(index);
    device.arch = "sm_90";
  } else {
    device.hip_index = 7 - index;  // the other way round, as on a real server
    device.unique_id = "8f3a2c1d0000000" + std::to_string(index);
    device.arch = "gfx942";
  }
  return device;
}

std::vector<Device> eight() {
  std::vector<Device> devices;
  for (int i = 0; i < 8; ++i) devices.push_back(gpu(i, static_cast<std::uint8_t>(0xc1 + i)));
  return devices;
}

std::vector<Device> partitioned() {
  std::vector<Device> devices;
  for (int i = 0; i < 4; ++i) {
    devices.push_back(gpu(0, 0x05));
    devices.back().partition = i;
    devices.back().index.reset();
    devices.back().hip_index = i;
  }
  return devices;
}

std::vector<std::int64_t> indexes(const Result<DeviceSelection>& selection) {
  REQUIRE(selection);
  std::vector<std::int64_t> list;
  for (const Device& device : selection->devices) list.push_back(device.index.value_or(-1));
  return list;
}

using Indexes = std::vector<std::int64_t>;

TEST_CASE("GPUs are named by index, range, address and unique id, in any mixture") {
  const auto devices = eight();
  CHECK(indexes(select_devices(devices, "3")) == Indexes{3});
  CHECK(indexes(select_devices(devices, "0-2,7")) == Indexes{0, 1, 2, 7});
  CHECK(indexes(select_devices(devices, " 5 ,  1 0\t")) == Indexes{5, 1, 0});
  CHECK(indexes(select_devices(devices, "0000:C3:00.0 c1:00.0")) == Indexes{2, 0});
  CHECK(indexes(select_devices(devices, "8f3a2c1d00000004")) == Indexes{4});
  CHECK(indexes(select_devices(devices, "0x8F3A2C1D00000004, GPU-8f3a2c1d00000005")) == Indexes{4, 5});
  CHECK(indexes(select_devices({gpu(0, 0x41, DeviceVendor::nvidia)},
                               "GPU-5C1F0A6E-1111-2222-3333-444455556660")) == Indexes{0});
}

TEST_CASE("what is wrong in any part of --gpu-ids is an error, never all GPUs") {
  const auto devices = eight();
  const struct {
    const char* request;
    const char* message;
  } cases[] = {
      {"", "is empty"},
      {"   ", "is empty"},
      {",", "missing beside a comma"},
      {"0,", "missing beside a comma"},
      {",0", "missing beside a comma"},
      {"0,,1", "missing beside a comma"},
      {"0,0", "a second time"},
      {"0-3,2", "a second time"},
      {"0 c1:00.0", "a second time"},
      {"8", "names no GPU of this machine"},
      {"0-8", "names no GPU of this machine"},
      {"3-1", "runs backwards"},
      {"0-99999", "too long"},
      {"-1", "neither an index"},
      {"1-", "neither an index"},
      {"0x1", "neither an index"},
      {"1.5", "neither an index"},
      {"all", "neither an index"},
      {"0000:99:00.0", "names no GPU of this machine"},
      {"c1:00.0/x", "no partition number"},
      {"c1:00.0/1", "names no GPU of this machine"},
      {"8f3a2c1d00000009", "names no GPU of this machine"},
      {"GPU-8f3a", "neither an index"},
  };
  for (const auto& [request, message] : cases) {
    CAPTURE(request);
    const auto selection = select_devices(devices, request);
    REQUIRE_FALSE(selection);
    CHECK(selection.error().code == ErrorCode::invalid_input);
    CHECK(selection.error().message.find("--gpu-ids: ") == 0);
    CHECK_MESSAGE(selection.error().message.find(message) != std::string::npos, selection.error().message);
  }
  CHECK(select_devices({}, "0").error().message.find("this machine has no GPU") != std::string::npos);
}

TEST_CASE(
    "an index that two vendors have, and a card's address without its partition, have to be made clear") {
  const std::vector<Device> mixed = {gpu(0, 0x03), gpu(0, 0x41, DeviceVendor::nvidia)};
  const auto ambiguous = select_devices(mixed, "0");
  REQUIRE_FALSE(ambiguous);
  CHECK(ambiguous.error().message.find("names 2 devices; say which: 0000:03:00.0, 0000:41:00.0") !=
        std::string::npos);
  const auto parts = partitioned();
  CHECK_FALSE(select_devices(parts, "0000:05:00.0"));
  CHECK_FALSE(select_devices(parts, parts[0].unique_id));
  const auto third = select_devices(parts, "0000:05:00.0/2");
  REQUIRE(third);
  CHECK(third->devices.front().partition == 2);
}

TEST_CASE("a device that cannot be used is refused by name, an integrated one is taken by name only") {
  auto devices = eight();
  devices[1].usability = Usability::unusable;
  devices[1].reason = "hung: reading its values does not return";
  devices[2].usability = Usability::by_name_only;
  devices[2].reason = "integrated GPU";
  const auto refused = select_devices(devices, "0,1");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("GPU 1 (0000:c2:00.0) cannot be used: hung") != std::string::npos);
  CHECK(indexes(select_devices(devices, "2")) == Indexes{2});
  const DeviceSelection all = select_all_usable(devices);
  CHECK(all.devices.size() == 6);
  REQUIRE(all.left_out.size() == 2);
  CHECK(all.left_out[0].reason == "hung: reading its values does not return");
  CHECK(all.left_out[1].reason == "integrated GPU");
}

TEST_CASE("the mask of every kind of device under every isolation") {
  const auto amd = eight();
  const auto parts = partitioned();
  Device nameless = gpu(2, 0x83);
  nameless.unique_id.clear();
  Device invisible = nameless;
  invisible.hip_index.reset();
  const Device nvidia = gpu(1, 0x41, DeviceVendor::nvidia);
  using Map = std::map<std::string, std::string>;
  const auto amd_mask = [](const std::string& rocr) {
    return Map{{"ROCR_VISIBLE_DEVICES", rocr},  {"HIP_VISIBLE_DEVICES", "0"},
               {"CUDA_VISIBLE_DEVICES", "0"},   {"GPU_DEVICE_ORDINAL", "0"},
               {"PYTORCH_ROCM_ARCH", "gfx942"}, {"AMDGPU_TARGETS", "gfx942"},
               {"GPU_TARGETS", "gfx942"},       {"AGENT_KERNEL_ARENA_GPU_ARCH", "gfx942"}};
  };
  const struct {
    const char* what;
    Device device;
    Isolation isolation;
    std::vector<Device> machine;
    Map set;
    std::string host_id;
    std::vector<std::string> unset;
  } rows[] = {
      {"AMD, all devices visible",
       amd[3],
       Isolation::environment,
       amd,
       amd_mask("GPU-8f3a2c1d00000003"),
       "3",
       {"CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"}},
      {"AMD, own nodes only",
       amd[3],
       Isolation::device_nodes,
       amd,
       amd_mask("GPU-8f3a2c1d00000003"),
       "3",
       {"CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"}},
      {"AMD without unique id, all visible: HIP's number, not rocm_smi's",
       nameless,
       Isolation::environment,
       {nameless},
       amd_mask("5"),
       "2",
       {"CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"}},
      {"AMD without unique id, own nodes only: it is the first",
       nameless,
       Isolation::device_nodes,
       {nameless},
       amd_mask("0"),
       "2",
       {"CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"}},
      {"AMD that HIP does not see: nothing rather than a neighbour",
       invisible,
       Isolation::environment,
       {invisible},
       amd_mask("none"),
       "2",
       {"CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"}},
      {"a partition, all visible: the id is the card's, so the number",
       parts[2],
       Isolation::environment,
       parts,
       amd_mask("2"),
       "0000:05:00.0/2",
       {"CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"}},
      {"a partition, own nodes only",
       parts[2],
       Isolation::device_nodes,
       parts,
       amd_mask("0"),
       "0000:05:00.0/2",
       {"CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"}},
      {"NVIDIA, all visible",
       nvidia,
       Isolation::environment,
       {nvidia},
       {{"CUDA_VISIBLE_DEVICES", nvidia.unique_id},
        {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
        {"ROCR_VISIBLE_DEVICES", ""}},
       "1",
       {"HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "NVIDIA_VISIBLE_DEVICES"}},
      {"NVIDIA, passed in by its container runtime",
       nvidia,
       Isolation::device_nodes,
       {nvidia},
       {{"CUDA_VISIBLE_DEVICES", nvidia.unique_id},
        {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
        {"ROCR_VISIBLE_DEVICES", ""},
        {"NVIDIA_VISIBLE_DEVICES", nvidia.unique_id}},
       "1",
       {"HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.what);
    const DeviceMask mask = mask_for(row.device, row.isolation, row.machine);
    Map expected = row.set;
    expected["AGENT_KERNEL_ARENA_HOST_GPU_ID"] = row.host_id;
    CHECK(mask.set == expected);
    CHECK(mask.unset == row.unset);
  }
}

TEST_CASE("a CPU slot sees no GPU of any vendor, and inherits no GPU's name") {
  const DeviceMask mask = mask_for(Device{}, Isolation::environment, eight());
  CHECK(mask.set == std::map<std::string, std::string>{{"ROCR_VISIBLE_DEVICES", ""},
                                                       {"HIP_VISIBLE_DEVICES", "-1"},
                                                       {"CUDA_VISIBLE_DEVICES", "-1"}});
  std::map<std::string, std::string> environment = {{"GPU_DEVICE_ORDINAL", "3"},
                                                    {"HIP_VISIBLE_DEVICES", "3"},
                                                    {"AGENT_KERNEL_ARENA_HOST_GPU_ID", "3"},
                                                    {"PATH", "/bin"}};
  apply_mask(mask, environment);
  CHECK(environment == std::map<std::string, std::string>{{"PATH", "/bin"},
                                                          {"ROCR_VISIBLE_DEVICES", ""},
                                                          {"HIP_VISIBLE_DEVICES", "-1"},
                                                          {"CUDA_VISIBLE_DEVICES", "-1"}});
}

TEST_CASE("no inherited variable masks a second time") {
  std::map<std::string, std::string> inherited;
  for (const char* name : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
                           "GPU_DEVICE_ORDINAL", "NVIDIA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}) {
    inherited[name] = "inherited";
  }
  for (const Device& device : {gpu(3, 0xc4), gpu(0, 0x41, DeviceVendor::nvidia), Device{}}) {
    auto environment = inherited;
    apply_mask(mask_for(device, Isolation::environment, eight()), environment);
    for (const auto& [name, value] : environment) CHECK_MESSAGE(value != "inherited", name);
  }
}

TEST_CASE("the table lines up, leaves out what nobody knows and colors on request only") {
  auto devices = eight();
  devices[1].name = "a long name of a GPU";
  devices[2].usability = Usability::unusable;
  devices[2].reason = "hung";
  devices[3].remarks = {"two sources disagree"};
  const auto table = device_table(devices, select_all_usable(devices), false);
  REQUIRE(table.size() == 10);
  const std::size_t column = table[0].find("PCI");
  for (const std::size_t line : {1U, 2U, 3U, 4U, 6U}) CHECK(table[line].substr(column, 5) == "0000:");
  CHECK(table[0].find("TEMP") == std::string::npos);
  CHECK(table[1].front() == '*');
  CHECK(table[3].front() == ' ');
  CHECK(table[3].find("no: hung") != std::string::npos);
  CHECK(table[5].find("0000:c4:00.0: two sources disagree") != std::string::npos);
  for (const std::string& line : table) CHECK(line.find('\x1b') == std::string::npos);
  CHECK(device_table(devices, select_all_usable(devices), true)[3].find("\x1b[33m") == 0);
}

}  // namespace
}  // namespace arena
