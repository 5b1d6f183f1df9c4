// A stand-in for libhsakmt.so.1, AMD's layer between ROCr and the KFD driver. AMD's own, unchanged ROCr and
// HIP run on top of it and enumerate the GPUs of the topology that run_on_machine mounts: masks, PCI
// addresses and properties are handled by AMD's code. As with the real one, /dev/kfd must open, and a GPU
// whose render node cannot be opened is left out. Memory is host memory; queues accept packets that nobody
// executes, so a kernel or a copy hangs, which is the hung-GPU test. HSA_OVERRIDE_GFX_VERSION is obeyed as
// the real one does. build_thunk builds it.
#include <fcntl.h>
#include <hsakmt.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

constexpr const char* kTopology = "/sys/devices/virtual/kfd/kfd/topology/nodes/";
constexpr HSAuint32 kNoNode = ~0U;
constexpr HSAKMT_STATUS kSuccess = HSAKMT_STATUS_SUCCESS;

class Properties {
 public:
  bool read(const std::string& file) {
    std::ifstream stream(file);
    std::string name;
    unsigned long long value = 0;
    while (stream >> name >> value) values_[name] = value;
    return !values_.empty();
  }
  unsigned long long operator[](const char* name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? 0 : found->second;
  }
  void set(const char* name, unsigned long long value) { values_[name] = value; }

 private:
  std::map<std::string, unsigned long long> values_;
};

struct Node {
  int number;
  Properties properties;
  std::string name;
  std::vector<Properties> links, memory;
  bool is_gpu() const { return properties["simd_count"] != 0; }
};

struct Allocation {
  size_t size;
  HSAuint32 node;
  HsaMemFlags flags;
  void* user;
  HSA_POINTER_TYPE type;
};

struct Event {
  HsaEvent event;  // first, so that a pointer to it is one to the whole
  bool set;
  bool manual;
};

// Never destroyed: ROCr's event thread waits on it while the process exits.
struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Node> nodes;
  std::map<char*, Allocation> allocations;
  int kfd = -1;
  int opens = 0;
  unsigned next_id = 1;
};
State& state = *new State;

std::vector<Properties> read_list(const std::string& directory) {
  std::vector<Properties> list;
  for (int i = 0;; ++i) {
    Properties entry;
    if (!entry.read(directory + "/" + std::to_string(i) + "/properties")) return list;
    list.push_back(entry);
  }
}

bool render_node_opens(const Node& node) {
  const std::string path = "/dev/dri/renderD" + std::to_string(node.properties["drm_render_minor"]);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor >= 0) close(descriptor);
  return descriptor >= 0;
}

void override_version(Node& node) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned stepping = 0;
  const char* const wanted = getenv("HSA_OVERRIDE_GFX_VERSION");
  if (wanted != nullptr && sscanf(wanted, "%u.%u.%u", &major, &minor, &stepping) == 3)
    node.properties.set("gfx_target_version", major * 10000 + minor * 100 + stepping);
}

// Links name nodes by their number in /sys; ROCr wants positions in the list of those it may use.
void renumber_links() {
  std::map<unsigned long long, unsigned> position;
  for (size_t i = 0; i < state.nodes.size(); ++i) position[state.nodes[i].number] = i;
  for (Node& node : state.nodes) {
    std::vector<Properties> kept;
    for (Properties& link : node.links) {
      if (!position.count(link["node_from"]) || !position.count(link["node_to"])) continue;
      link.set("node_from", position[link["node_from"]]);
      link.set("node_to", position[link["node_to"]]);
      kept.push_back(link);
    }
    node.links = kept;
  }
}

void load_nodes() {
  state.nodes.clear();
  for (int number = 0;; ++number) {
    const std::string directory = kTopology + std::to_string(number);
    if (access(directory.c_str(), F_OK) != 0) break;
    Node node{number, {}, "", {}, {}};
    if (!node.properties.read(directory + "/properties")) continue;
    std::ifstream name(directory + "/name");
    std::getline(name, node.name);
    if (node.is_gpu()) {
      if (!render_node_opens(node)) continue;
      override_version(node);
    }
    node.links = read_list(directory + "/io_links");
    node.memory = read_list(directory + "/mem_banks");
    if (node.is_gpu()) {  // local data share: the driver does not list it, the thunk does
      Properties local;
      local.set("heap_type", HSA_HEAPTYPE_GPU_LDS);
      local.set("size_in_bytes", node.properties["lds_size_in_kb"] * 1024);
      node.memory.push_back(local);
    }
    state.nodes.push_back(node);
  }
  renumber_links();
}

HSAuint64 now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<HSAuint64>(time.tv_sec) * 1000000000 + static_cast<HSAuint64>(time.tv_nsec);
}

const Node* find_node(HSAuint32 number) {
  return number < state.nodes.size() ? &state.nodes[number] : nullptr;
}

bool fits_into(HSAuint32 number, HSAuint64 size) {
  const Node* const node = find_node(number);
  if (node == nullptr || !node->is_gpu()) return true;
  unsigned long long capacity = 0;
  unsigned long long used = 0;
  for (const Properties& bank : node->memory) capacity += bank["size_in_bytes"];
  for (const auto& [address, allocation] : state.allocations)
    used += allocation.node == number ? allocation.size : 0;
  return used + size <= capacity;
}

Event* as_event(HsaEvent* event) { return reinterpret_cast<Event*>(event); }

}  // namespace

extern "C" {

HSAKMT_STATUS hsaKmtOpenKFD() {
  const std::lock_guard<std::mutex> guard(state.mutex);
  if (state.opens > 0) return ++state.opens, HSAKMT_STATUS_KERNEL_ALREADY_OPENED;
  state.kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
  if (state.kfd < 0) return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
  ++state.opens;
  return kSuccess;
}

HSAKMT_STATUS hsaKmtCloseKFD() {
  const std::lock_guard<std::mutex> guard(state.mutex);
  if (state.opens > 0 && --state.opens == 0) close(state.kfd);
  return kSuccess;
}

HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo* version) {
  version->KernelInterfaceMajorVersion = 1;
  version->KernelInterfaceMinorVersion = 6;
  return kSuccess;
}

HSAKMT_STATUS hsaKmtAcquireSystemProperties(HsaSystemProperties* system) {
  load_nodes();
  *system = {};
  system->NumNodes = state.nodes.size();
  return state.nodes.empty() ? HSAKMT_STATUS_ERROR : kSuccess;
}

HSAKMT_STATUS hsaKmtReleaseSystemProperties() { return kSuccess; }

HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 number, HsaNodeProperties* out) {
  const Node* const node = find_node(number);
  if (node == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  const Properties& from = node->properties;
  memset(out, 0, sizeof *out);
  out->NumCPUCores = from["cpu_cores_count"];
  out->NumFComputeCores = from["simd_count"];
  out->NumMemoryBanks = node->memory.size();
  out->NumCaches = 2;
  out->NumIOLinks = node->links.size();
  out->CComputeIdLo = from["cpu_core_id_base"];
  out->FComputeIdLo = from["simd_id_base"];
  out->Capability.Value = from["capability"];
  out->Capability.ui32.DoorbellType = 2;
  out->MaxWavesPerSIMD = from["max_waves_per_simd"];
  out->LDSSizeInKB = from["lds_size_in_kb"];
  out->GDSSizeInKB = from["gds_size_in_kb"];
  out->WaveFrontSize = from["wave_front_size"];
  out->NumArrays = from["simd_arrays_per_engine"];
  out->NumShaderBanks = out->NumArrays != 0 ? from["array_count"] / out->NumArrays : 0;
  out->NumCUPerArray = from["cu_per_simd_array"];
  out->NumSIMDPerCU = from["simd_per_cu"];
  out->MaxSlotsScratchCU = from["max_slots_scratch_cu"];
  const unsigned long long version = from["gfx_target_version"];
  out->EngineId.ui32.Major = version / 10000;
  out->EngineId.ui32.Minor = version / 100 % 100;
  out->EngineId.ui32.Stepping = version % 100;
  out->EngineId.ui32.uCode = from["fw_version"] & 0x3ff;
  out->VendorId = from["vendor_id"];
  out->DeviceId = from["device_id"];
  out->LocationId = from["location_id"];
  out->Domain = from["domain"];
  out->MaxEngineClockMhzFCompute = from["max_engine_clk_fcompute"];
  out->MaxEngineClockMhzCCompute = from["max_engine_clk_ccompute"];
  out->DrmRenderMinor = from["drm_render_minor"];
  out->HiveID = from["hive_id"];
  out->NumSdmaEngines = from["num_sdma_engines"];
  out->NumSdmaXgmiEngines = from["num_sdma_xgmi_engines"];
  out->NumSdmaQueuesPerEngine = from["num_sdma_queues_per_engine"];
  out->NumCpQueues = from["num_cp_queues"];
  out->NumGws = from["num_gws"];
  out->UniqueID = from["unique_id"];
  out->VGPRSizePerCU = 0x80000;
  out->SGPRSizePerCU = 0x4000;
  strncpy(reinterpret_cast<char*>(out->AMDName), node->name.c_str(), sizeof out->AMDName - 1);
  if (node->is_gpu()) {
    const std::string name = "stand-in for device " + std::to_string(out->DeviceId);
    for (size_t i = 0; i < name.size(); ++i) out->MarketingName[i] = name[i];  // 16-bit characters
  }
  return kSuccess;
}

HSAKMT_STATUS hsaKmtGetNodeMemoryProperties(HSAuint32 number, HSAuint32 count, HsaMemoryProperties* out) {
  const Node* const node = find_node(number);
  if (node == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  for (HSAuint32 i = 0; i < count && i < node->memory.size(); ++i) {
    const Properties& bank = node->memory[i];
    memset(&out[i], 0, sizeof out[i]);
    out[i].HeapType = static_cast<HSA_HEAPTYPE>(bank["heap_type"]);
    out[i].SizeInBytes = bank["size_in_bytes"];
    out[i].Width = bank["width"];
    out[i].MemoryClockMax = bank["mem_clk_max"];
    if (out[i].HeapType == HSA_HEAPTYPE_GPU_LDS) out[i].VirtualBaseAddress = 0x1000000000000ULL;
  }
  return kSuccess;
}

HSAKMT_STATUS hsaKmtGetNodeCacheProperties(HSAuint32 number, HSAuint32, HSAuint32 count,
                                           HsaCacheProperties* out) {
  const Node* const node = find_node(number);
  const bool gpu = node != nullptr && node->is_gpu();
  for (HSAuint32 i = 0; i < count && i < 2; ++i) {
    memset(&out[i], 0, sizeof out[i]);
    out[i].CacheLevel = i + 1;
    out[i].CacheSize = i == 0 ? 16 : 8192;
    out[i].CacheLineSize = 128;
    out[i].CacheType.ui32.Data = 1;
    out[i].CacheType.ui32.HSACU = gpu;
    out[i].CacheType.ui32.CPU = !gpu;
  }
  return kSuccess;
}

HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 number, HSAuint32 count, HsaIoLinkProperties* out) {
  const Node* const node = find_node(number);
  if (node == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  for (HSAuint32 i = 0; i < count && i < node->links.size(); ++i) {
    const Properties& link = node->links[i];
    memset(&out[i], 0, sizeof out[i]);
    out[i].IoLinkType = static_cast<HSA_IOLINKTYPE>(link["type"]);
    out[i].NodeFrom = link["node_from"];
    out[i].NodeTo = link["node_to"];
    out[i].Weight = link["weight"];
    out[i].MinimumBandwidth = link["min_bandwidth"];
    out[i].MaximumBandwidth = link["max_bandwidth"];
  }
  return kSuccess;
}

HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32, HsaClockCounters* out) {
  out->GPUClockCounter = now_ns() / 10;
  out->CPUClockCounter = out->SystemClockCounter = now_ns();
  out->SystemClockFrequencyHz = 1000000000;
  return kSuccess;
}

HSAKMT_STATUS hsaKmtAllocMemory(HSAuint32 node, HSAuint64 size, HsaMemFlags flags, void** address) {
  const std::lock_guard<std::mutex> guard(state.mutex);
  const bool scratch = flags.ui32.Scratch != 0;
  const bool fixed = flags.ui32.FixedAddress != 0;
  if (!scratch && !fits_into(node, size)) return HSAKMT_STATUS_NO_MEMORY;
  void* const memory = mmap(fixed ? *address : nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (fixed ? MAP_FIXED : 0), -1, 0);
  if (memory == MAP_FAILED) return HSAKMT_STATUS_NO_MEMORY;
  state.allocations[static_cast<char*>(memory)] = {size, scratch ? kNoNode : node, flags, nullptr,
                                                   HSA_POINTER_ALLOCATED};
  *address = memory;
  return kSuccess;
}

HSAKMT_STATUS hsaKmtFreeMemory(void* address, HSAuint64 size) {
  const std::lock_guard<std::mutex> guard(state.mutex);
  state.allocations.erase(static_cast<char*>(address));
  munmap(address, size);
  return kSuccess;
}

HSAKMT_STATUS hsaKmtRegisterMemoryWithFlags(void* address, HSAuint64 size, HsaMemFlags flags) {
  const std::lock_guard<std::mutex> guard(state.mutex);
  state.allocations.insert(
      {static_cast<char*>(address), {size, kNoNode, flags, nullptr, HSA_POINTER_REGISTERED_USER}});
  return kSuccess;
}

HSAKMT_STATUS hsaKmtDeregisterMemory(void* address) {
  const std::lock_guard<std::mutex> guard(state.mutex);
  const auto found = state.allocations.find(static_cast<char*>(address));
  if (found != state.allocations.end() && found->second.type == HSA_POINTER_REGISTERED_USER)
    state.allocations.erase(found);
  return kSuccess;
}

HSAKMT_STATUS hsaKmtMapMemoryToGPU(void*, HSAuint64, HSAuint64* address) {
  if (address != nullptr) *address = 0;
  return kSuccess;
}
HSAKMT_STATUS hsaKmtMapMemoryToGPUNodes(void*, HSAuint64, HSAuint64* address, HsaMemMapFlags, HSAuint64,
                                        HSAuint32*) {
  if (address != nullptr) *address = 0;
  return kSuccess;
}
HSAKMT_STATUS hsaKmtUnmapMemoryToGPU(void*) { return kSuccess; }

HSAKMT_STATUS hsaKmtSetMemoryUserData(const void* address, void* user) {
  const std::lock_guard<std::mutex> guard(state.mutex);
  const auto found = state.allocations.find(static_cast<char*>(const_cast<void*>(address)));
  if (found == state.allocations.end()) return HSAKMT_STATUS_INVALID_PARAMETER;
  found->second.user = user;
  return kSuccess;
}

HSAKMT_STATUS hsaKmtQueryPointerInfo(const void* pointer, HsaPointerInfo* out) {
  const std::lock_guard<std::mutex> guard(state.mutex);
  char* const address = static_cast<char*>(const_cast<void*>(pointer));
  memset(out, 0, sizeof *out);
  auto found = state.allocations.upper_bound(address);
  if (found == state.allocations.begin()) return kSuccess;
  --found;
  const Allocation& allocation = found->second;
  if (address >= found->first + allocation.size) return kSuccess;
  out->Type = allocation.type;
  out->Node = allocation.node == kNoNode ? 0 : allocation.node;
  out->MemFlags = allocation.flags;
  out->CPUAddress = found->first;
  out->GPUAddress = reinterpret_cast<HSAuint64>(found->first);
  out->SizeInBytes = allocation.size;
  out->UserData = allocation.user;
  return kSuccess;
}

HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor* descriptor, bool manual, bool set, HsaEvent** out) {
  const std::lock_guard<std::mutex> guard(state.mutex);
  auto* const event = new Event{};
  event->event.EventId = state.next_id++;
  event->event.EventData.EventType = descriptor->EventType;
  event->set = set;
  event->manual = manual;
  *out = &event->event;
  return kSuccess;
}

HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent* event) { return delete as_event(event), kSuccess; }

HSAKMT_STATUS hsaKmtSetEvent(HsaEvent* event) {
  const std::lock_guard<std::mutex> guard(state.mutex);
  as_event(event)->set = true;
  state.changed.notify_all();
  return kSuccess;
}

HSAKMT_STATUS hsaKmtResetEvent(HsaEvent* event) {
  const std::lock_guard<std::mutex> guard(state.mutex);
  as_event(event)->set = false;
  return kSuccess;
}

HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent* events[], HSAuint32 count, bool all,
                                         HSAuint32 milliseconds) {
  std::unique_lock<std::mutex> lock(state.mutex);
  const auto ready = [&] {
    HSAuint32 set = 0;
    for (HSAuint32 i = 0; i < count; ++i) set += as_event(events[i])->set ? 1 : 0;
    return all ? set == count : set > 0;
  };
  bool done = true;
  if (milliseconds == HSA_EVENTTIMEOUT_INFINITE) {
    state.changed.wait(lock, ready);
  } else {
    done = state.changed.wait_for(lock, std::chrono::milliseconds(milliseconds), ready);
  }
  if (!done) return HSAKMT_STATUS_WAIT_TIMEOUT;
  for (HSAuint32 i = 0; i < count; ++i)
    as_event(events[i])->set = as_event(events[i])->manual && as_event(events[i])->set;
  return kSuccess;
}

HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent* event, HSAuint32 milliseconds) {
  return hsaKmtWaitOnMultipleEvents(&event, 1, true, milliseconds);
}

HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32, HSA_QUEUE_TYPE, HSAuint32, HSA_QUEUE_PRIORITY, void*, HSAuint64,
                                HsaEvent*, HsaQueueResource* out) {
  void* const memory = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return HSAKMT_STATUS_NO_MEMORY;
  const std::lock_guard<std::mutex> guard(state.mutex);
  char* const bytes = static_cast<char*>(memory);
  out->QueueId = state.next_id++;
  out->Queue_DoorBell = reinterpret_cast<HSAuint32*>(bytes);
  if (out->Queue_write_ptr == nullptr) out->Queue_write_ptr = reinterpret_cast<HSAuint32*>(bytes + 4096);
  if (out->Queue_read_ptr == nullptr) out->Queue_read_ptr = reinterpret_cast<HSAuint32*>(bytes + 4160);
  return kSuccess;
}

HSAKMT_STATUS hsaKmtUpdateQueue(HSA_QUEUEID, HSAuint32, HSA_QUEUE_PRIORITY, void*, HSAuint64, HsaEvent*) {
  return kSuccess;
}
HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID) { return kSuccess; }
HSAKMT_STATUS hsaKmtSetQueueCUMask(HSA_QUEUEID, HSAuint32, HSAuint32*) { return kSuccess; }
HSAKMT_STATUS hsaKmtAllocQueueGWS(HSA_QUEUEID, HSAuint32, HSAuint32* first) {
  if (first != nullptr) *first = 0;
  return kSuccess;
}
HSAKMT_STATUS hsaKmtSetMemoryPolicy(HSAuint32, HSAuint32, HSAuint32, void*, HSAuint64) { return kSuccess; }
HSAKMT_STATUS hsaKmtSetTrapHandler(HSAuint32, void*, HSAuint64, void*, HSAuint64) { return kSuccess; }
HSAKMT_STATUS hsaKmtGetTileConfig(HSAuint32, HsaGpuTileConfig* out) {
  out->NumTileConfigs = out->NumMacroTileConfigs = 0;
  out->GbAddrConfig = 0;
  out->NumBanks = out->NumRanks = 1;
  return kSuccess;
}
HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32* mode) { return *mode = 0, kSuccess; }

HSAKMT_STATUS hsaKmtSetXNACKMode(HSAint32) { return HSAKMT_STATUS_NOT_SUPPORTED; }
HSAKMT_STATUS hsaKmtRuntimeEnable(void*, bool) { return HSAKMT_STATUS_NOT_SUPPORTED; }
HSAKMT_STATUS hsaKmtRuntimeDisable() { return HSAKMT_STATUS_NOT_SUPPORTED; }
HSAKMT_STATUS hsaKmtShareMemory(void*, HSAuint64, HsaSharedMemoryHandle*) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
HSAKMT_STATUS hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle*, void**, HSAuint64*) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
HSAKMT_STATUS hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle*, void**, HSAuint64*, HSAuint64,
                                                HSAuint32*) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodes(HSAuint64, HsaGraphicsResourceInfo*, HSAuint64,
                                                  HSAuint32*) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
HSAKMT_STATUS hsaKmtSVMSetAttr(void*, HSAuint64, unsigned, HSA_SVM_ATTRIBUTE*) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
HSAKMT_STATUS hsaKmtSVMGetAttr(void*, HSAuint64, unsigned, HSA_SVM_ATTRIBUTE*) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

}  // extern "C"
