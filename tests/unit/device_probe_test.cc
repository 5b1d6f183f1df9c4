#include "device/device_probe.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "device/device_lock.h"
#include "device/probe/list.h"
#include "device/probe/sysfs.h"
#include "device/probe/vendor_library.h"
#include "fakes/temp_directory.h"

namespace arena {
namespace {

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file.native()) << text << "\n";
}

fs::path make_script(const TempDirectory& directory, const std::string& body) {
  const fs::path file = directory / "arena-probe";
  write(file, "#!/bin/sh\n" + body);
  fs::permissions(file, fs::owner_all);
  return file;
}

// One card below `root`, as amdgpu and KFD show it.
void add_card(const fs::path& root, const std::string& address, int node, const std::string& properties) {
  const fs::path card = root / "sys/bus/pci/devices" / address;
  write(card / "vendor", "0x1002");
  write(card / "class", "0x038000");
  write(card / "numa_node", "1");
  write(card / "mem_info_vram_total", "68719476736");
  write(card / "unique_id", "9e3779b97f4a7c15");
  fs::create_directories(root / "sys/bus/pci/drivers/amdgpu");
  fs::create_symlink("../../drivers/amdgpu", card / "driver");
  if (node >= 0) {
    const fs::path directory = root / "sys/class/kfd/kfd/topology/nodes" / std::to_string(node);
    write(directory / "gpu_id", "4711");
    write(directory / "properties", properties);
  }
}

std::string node_of(unsigned location, int minor, std::uint64_t unique_id = 0x9e3779b97f4a7c15) {
  return "simd_count 440\nvendor_id 4098\ndomain 0\nlocation_id " + std::to_string(location) +
         "\ndrm_render_minor " + std::to_string(minor) + "\ngfx_target_version 90010\nunique_id " +
         std::to_string(unique_id);
}

TEST_CASE("sysfs tells a card's identity and numbers it as HIP does, by KFD node") {
  const TempDirectory directory;
  const fs::path& root = directory.path();
  write(root / "sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0");
  write(root / "sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 96\nsimd_count 0");
  add_card(root, "0000:c1:00.0", 2, node_of(0xc100, 128));
  add_card(root, "0000:c6:00.0", 10, node_of(0xc600, 129, 5));
  add_card(root, "0000:01:00.0", 1, node_of(0x0100, 130, 6));
  for (const char* name : {"renderD128", "renderD129", "renderD130"}) write(root / "dev/dri" / name, "");
  const auto devices = read_sysfs_devices(root);
  REQUIRE(devices.size() == 3);
  CHECK(devices[0].hip_index == 0);
  CHECK(devices[1].hip_index == 1);
  CHECK(devices[2].hip_index == 2);
  CHECK(devices[2].hsa_node == 3);
  CHECK(devices[2].kfd_node == 10);
  const Device& device = devices[1];
  CHECK(to_string(device.pci_address) == "0000:c1:00.0");
  CHECK(device.unique_id == "9e3779b97f4a7c15");
  CHECK(device.arch == "gfx90a");
  CHECK(device.numa_node == 1);
  CHECK(device.memory_bytes == 68719476736);
  CHECK(device.render_node == "/dev/dri/renderD128");
  CHECK(device.reason.empty());
  CHECK(devices[2].remarks.size() == 1);  // KFD's unique id is another one than the bus's
}

TEST_CASE("partitions are told apart in the function bits of older kernels and the high bits of newer ones") {
  for (const unsigned shift : {0U, 28U}) {
    const TempDirectory directory;
    add_card(directory.path(), "0000:05:00.0", 1, node_of(0x0500, 0));
    write(directory / "sys/class/kfd/kfd/topology/nodes/2/gpu_id", "4712");
    write(directory / "sys/class/kfd/kfd/topology/nodes/2/properties", node_of(0x0500 | 1U << shift, 0));
    const auto devices = read_sysfs_devices(directory.path());
    REQUIRE(devices.size() == 2);
    CHECK(devices[0].partition == 0);
    CHECK(devices[1].partition == 1);
    CHECK(identity_of(devices[1]) == "0000:05:00.0/1");
  }
}

TEST_CASE("a card without a KFD node, or with a mute one, says that HIP will not see it") {
  const TempDirectory directory;
  add_card(directory.path(), "0000:05:00.0", -1, "");
  auto devices = read_sysfs_devices(directory.path());
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].reason.find("no compute (KFD) topology") != std::string::npos);
  write(directory / "sys/class/kfd/kfd/topology/nodes/3/gpu_id", "4711");
  write(directory / "sys/class/kfd/kfd/topology/nodes/3/properties", "");
  devices = read_sysfs_devices(directory.path());
  CHECK(devices[0].reason.find("node 3 has no properties") != std::string::npos);
  CHECK_FALSE(devices[0].hip_index);
}

TEST_CASE("values are read from hwmon and the driver's files, with junction where there is no edge sensor") {
  const TempDirectory directory;
  add_card(directory.path(), "0000:c1:00.0", 1, node_of(0xc100, 0));
  const fs::path card = directory / "sys/bus/pci/devices/0000:c1:00.0";
  write(card / "hwmon/hwmon3/temp2_label", "junction");
  write(card / "hwmon/hwmon3/temp2_input", "47000");
  write(card / "hwmon/hwmon3/power1_input", "131500000");
  write(card / "pp_dpm_sclk", "0: 132Mhz\n1: 2100Mhz *");
  write(card / "gpu_busy_percent", "97");
  write(card / "ras/umc_err_count", "ue: 1\nce: 20");
  write(card / "ras/gfx_err_count", "ue: 2\nce: 0");
  write(directory / "sys/class/kfd/kfd/proc/77/vram_4711", "1024");
  write(directory / "sys/class/kfd/kfd/proc/78/vram_4711", "0");
  write(directory / "sys/class/kfd/kfd/proc/79/queues/1/gpuid", "4711");
  write(directory / "proc/77/comm", "python3");
  auto devices = read_sysfs_devices(directory.path());
  REQUIRE(devices.size() == 1);
  read_sysfs_values(directory.path(), devices[0]);
  CHECK(devices[0].temperature_c == doctest::Approx(47));
  CHECK(devices[0].power_w == doctest::Approx(131.5));
  CHECK(devices[0].clock_mhz == 2100);
  CHECK(devices[0].use_percent == 97);
  CHECK(devices[0].ecc == EccCounts{20, 3});
  REQUIRE(devices[0].processes);
  REQUIRE(devices[0].processes->size() == 2);
  CHECK(devices[0].processes->front() == DeviceProcess{77, "python3", 1024});
  CHECK(devices[0].processes->back().pid == 79);
  write(card / "hwmon/hwmon3/temp1_label", "edge");
  write(card / "hwmon/hwmon3/temp1_input", "no number");
  Device fresh = read_sysfs_devices(directory.path())[0];
  read_sysfs_values(directory.path(), fresh);
  CHECK_FALSE(fresh.temperature_c);  // unreadable is unknown, never 0
}

TEST_CASE("an integrated GPU is known by its architecture, another vendor's card is none of ours") {
  const TempDirectory directory;
  add_card(directory.path(), "0000:0f:00.0", 1, "simd_count 4\nlocation_id 3840\ngfx_target_version 100306");
  add_card(directory.path(), "0000:01:00.0", -1, "");
  write(directory / "sys/bus/pci/devices/0000:01:00.0/vendor", "0x1a03");
  const auto devices = read_sysfs_devices(directory.path());
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].integrated);
}

TEST_CASE("a child that hangs at one device is run again without it, and what it found is kept") {
  const ChildJob job{[](const ChildReport& report) {
    const SourceSink sink = report.sink();
    for (const std::uint8_t bus : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
      Device device;
      device.vendor = DeviceVendor::amd;
      device.pci_address = {0, bus, 0, 0};
      sink.found(device);
      if (!sink.reading("its values", identity_of(device))) continue;
      while (bus == 2) ::pause();
      device.power_w = 100;
      sink.found(device);
    }
    SourceReport end;
    end.state = SourceState::ok;
    report.send({{"end", to_json(end)}});
  }};
  const ChildJob crashing{[](const ChildReport& report) {
    report.sink().reading("rsmi_init", "");
    ::write(STDERR_FILENO, "assertion\n", 10);
    ::raise(SIGKILL);
  }};
  const ChildJob mute{[](const ChildReport&) {
    for (;;) ::pause();
  }};
  using std::chrono::milliseconds;
  const auto outcomes =
      run_children({job, crashing, mute}, {milliseconds(300), milliseconds(300), milliseconds(20000)});
  REQUIRE(outcomes.size() == 3);
  const SourceReport report = assemble_source(SourceKind::sysfs, outcomes[0]);
  CHECK(report.state == SourceState::ok);
  REQUIRE(report.devices.size() == 3);
  CHECK(report.devices[0].power_w == 100);
  CHECK(report.devices[1].hung == "its values");
  CHECK_FALSE(report.devices[1].power_w);
  CHECK(report.devices[2].power_w == 100);
  const SourceReport crashed = assemble_source(SourceKind::rocm_smi, outcomes[1]);
  CHECK(crashed.state == SourceState::failed);
  CHECK(crashed.message == "rocm_smi crashed while reading rsmi_init (Killed); it wrote: assertion");
  CHECK(assemble_source(SourceKind::nvml, outcomes[2]).state == SourceState::hung);
}

TEST_CASE("a probe's answer is read, and each way it can fail has its own error") {
  const TempDirectory directory;
  const EnvironmentMap environment = {{"PATH", "/bin:/usr/bin"}};
  ProbeReport report;
  report.kfd.state = KfdAccess::State::ok;
  const auto ask = [&](const std::string& body, std::chrono::milliseconds deadline = kProbeDeadline) {
    return probe_devices(make_script(directory, body), environment, deadline);
  };
  const auto answer = ask("echo '" + to_json_text(report) + "'");
  REQUIRE(answer);
  CHECK(answer->kfd.state == KfdAccess::State::ok);
  CHECK(ask("echo nonsense").error().code == ErrorCode::corrupt);
  const auto failed = ask("echo library trouble >&2; exit 3");
  CHECK(failed.error().code == ErrorCode::io);
  CHECK(failed.error().message == "arena-probe list failed: exit code 3; it wrote: library trouble");
  CHECK(ask("kill -SEGV $$").error().message.find("SIGSEGV") != std::string::npos);
  CHECK(ask("exec sleep 600", std::chrono::milliseconds(200)).error().code == ErrorCode::timed_out);
  CHECK_FALSE(probe_devices(directory / "none", environment));
  const auto seen =
      see_devices(make_script(directory, "[ $1 = see ] && echo '{\"format\":1,\"views\":[]}'"), environment);
  REQUIRE(seen);
  CHECK(seen->empty());
}

TEST_CASE("a device's lock is held by one at a time and names its holder") {
  const TempDirectory directory;
  Device device;
  device.vendor = DeviceVendor::amd;
  device.pci_address = {0, 0xc1, 0, 0};
  CHECK_FALSE(DeviceLock::holder_of(directory.path(), device));
  {
    const auto lock = DeviceLock::try_acquire(directory.path(), device, "run_1, worker 0.1, pid 7");
    REQUIRE(lock);
    const auto second = DeviceLock::try_acquire(directory.path(), device, "run_2");
    REQUIRE_FALSE(second);
    CHECK(second.error().code == ErrorCode::busy);
    CHECK(second.error().message.find("run_1, worker 0.1, pid 7 has it") != std::string::npos);
    CHECK(second.error().message.find("--wait-for-gpu") != std::string::npos);
    CHECK(DeviceLock::holder_of(directory.path(), device) == "run_1, worker 0.1, pid 7");
    Device partition = device;
    partition.partition = 1;
    CHECK(DeviceLock::try_acquire(directory.path(), partition, "run_2"));
    int asked = 0;
    const auto waited = DeviceLock::acquire(
        directory.path(), device, "run_2", [&] { return ++asked == 3; }, std::chrono::milliseconds(1));
    CHECK(waited.error().code == ErrorCode::cancelled);
  }
  CHECK_FALSE(DeviceLock::holder_of(directory.path(), device));
  CHECK(DeviceLock::acquire(directory.path(), device, "run_2", [] { return true; }));
}

TEST_CASE("a lock file serves every user, and one that is only readable can be locked") {
  const TempDirectory directory;
  Device device;
  device.vendor = DeviceVendor::amd;
  const mode_t mask = ::umask(077);
  const auto made = DeviceLock::try_acquire(directory.path(), device, "run_1");
  ::umask(mask);
  REQUIRE(made);
  struct stat status {};
  REQUIRE(::stat((directory / device_lock_name(device)).c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0666);
  const auto missing = DeviceLock::try_acquire(directory / "none", device, "run_1");
  CHECK_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
}

TEST_CASE("lock files are named by address and partition") {
  Device device;
  device.pci_address = {0, 0x05, 0, 0};
  CHECK(device_lock_name(device) == "0000:05:00.0.lock");
  device.partition = 3;
  CHECK(device_lock_name(device) == "0000:05:00.0.p3.lock");
}

TEST_CASE("a library that is not installed is told apart from one that cannot be loaded") {
  const auto missing = VendorLibrary::open({"libarena-none.so.7", "libarena-none.so.6"}, {"/nowhere"});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(missing.error().message == "libarena-none.so.7, libarena-none.so.6 is not installed");
  const TempDirectory directory;
  write(directory / "libarena-none.so.6", "no ELF");
  const auto broken = VendorLibrary::open({"libarena-none.so.6"}, {directory.path().string()});
  REQUIRE_FALSE(broken);
  CHECK(broken.error().code == ErrorCode::io);
  const auto libc = VendorLibrary::open({"libm.so.6"}, {});
  REQUIRE(libc);
  CHECK((libc->find<double(double)>("cos") != nullptr));
  CHECK((libc->find<double(double)>("no_such_function") == nullptr));
}

}  // namespace
}  // namespace arena
