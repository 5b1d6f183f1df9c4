// Our declarations of rocm_smi's functions against AMD's own header, where that is installed.
#include "device/probe/rocm_smi_calls.h"

#if __has_include(<rocm_smi/rocm_smi.h>)
#include <rocm_smi/rocm_smi.h>

#include <type_traits>

namespace arena::rsmi {
namespace {

template <class Function>
struct Plain;  // enums as the number they are passed as
template <class Type>
using plain_t = std::conditional_t<std::is_enum_v<Type>, std::uint32_t, Type>;
template <class Result, class... Arguments>
struct Plain<Result(Arguments...)> {
  using type = plain_t<Result>(plain_t<Arguments>...);
};
template <class Ours, auto* theirs>
constexpr bool same = std::is_same_v<Ours, typename Plain<std::remove_pointer_t<decltype(theirs)>>::type>;

static_assert(same<Init, rsmi_init>);
static_assert(same<ShutDown, rsmi_shut_down>);
static_assert(same<StatusString, rsmi_status_string>);
static_assert(same<Count, rsmi_num_monitor_devices>);
static_assert(same<Number64, rsmi_dev_pci_id_get>);
static_assert(same<Number64, rsmi_dev_unique_id_get>);
static_assert(same<Number32, rsmi_dev_busy_percent_get>);
static_assert(same<Number32, rsmi_topo_get_numa_node_number>);
static_assert(same<Name, rsmi_dev_name_get>);
static_assert(same<Temperature, rsmi_dev_temp_metric_get>);
static_assert(same<Power, rsmi_dev_power_ave_get>);
static_assert(same<Memory, rsmi_dev_memory_total_get>);
static_assert(same<Memory, rsmi_dev_memory_usage_get>);
static_assert(same<VersionString, rsmi_version_str_get>);
static_assert(sizeof(rsmi::Version) == sizeof(rsmi_version_t));
static_assert(kSuccess == RSMI_STATUS_SUCCESS && kNotSupported == RSMI_STATUS_NOT_SUPPORTED);
static_assert(kPermission == RSMI_STATUS_PERMISSION && kInitError == RSMI_STATUS_INIT_ERROR);
static_assert(kVram == RSMI_MEM_TYPE_VRAM && kEdge == RSMI_TEMP_TYPE_EDGE &&
              kJunction == RSMI_TEMP_TYPE_JUNCTION);
static_assert(kCurrent == RSMI_TEMP_CURRENT && kDriver == RSMI_SW_COMP_DRIVER);

}  // namespace
}  // namespace arena::rsmi
#endif
