// arena-probe: the only program of arena that opens vendors' libraries. Short-lived, so that nothing of them
// stays.
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "device/probe/list.h"
#include "device/probe/sample.h"
#include "device/probe/see.h"

namespace arena {

namespace {

constexpr int kUsage = 2;

struct Options {
  std::int64_t patience_ms = 0;
  std::int64_t period_ms = 200;
  std::string vendor = "amd";
  std::string address;
};

int print(const std::string& text) {
  const std::string line = text + "\n";
  return std::fwrite(line.data(), 1, line.size(), stdout) == line.size() && std::fflush(stdout) == 0 ? 0 : 1;
}

ChildLimits limits_of(const Options& options) {
  ChildLimits limits;
  if (options.patience_ms > 0)
    limits.library = limits.device = std::chrono::milliseconds(options.patience_ms);
  return limits;
}

int sample(const Options& options) {
  const auto vendor = parse_vendor(options.vendor);
  const auto address = parse_pci_address(options.address);
  if (!vendor || *vendor == DeviceVendor::cpu || !address) {
    fmt::print(stderr,
               "arena-probe: sample: --vendor is amd or nvidia, --pci an address like 0000:c1:00.0\n");
    return kUsage;
  }
  const Status status = stream_telemetry(*vendor, *address, std::chrono::milliseconds(options.period_ms));
  if (!status) fmt::print(stderr, "arena-probe: {}\n", status.error().message);
  return status ? 0 : 1;
}

int run(int argc, char** argv) {
  CLI::App app{"Asks drivers and runtimes about GPUs, so that arena itself need not open them. Prints JSON.",
               "arena-probe"};
  Options options;
  app.set_version_flag("--version", "arena-probe " ARENA_VERSION);
  app.require_subcommand(1);
  auto* const list = app.add_subcommand("list", "what rocm_smi, NVML and /sys tell of this machine's GPUs");
  auto* const see = app.add_subcommand("see", "what HIP, HSA and CUDA see under this environment");
  for (CLI::App* const sub : {list, see}) {
    sub->add_option("--patience-ms", options.patience_ms,
                    "how long one step may take (default: 5000 to 20000)")
        ->check(CLI::PositiveNumber);
  }
  auto* const stream =
      app.add_subcommand("sample", "clock, power, temperature and throttling, a line every period");
  stream->add_option("--vendor", options.vendor, "amd or nvidia")->required();
  stream->add_option("--pci", options.address, "PCI address")->required();
  stream->add_option("--period-ms", options.period_ms, "default: 200")->check(CLI::Range(10, 60000));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (*list) return print(to_json_text(list_devices(limits_of(options))));
  if (*see) return print(to_json_text(see_devices(limits_of(options))));
  return sample(options);
}

}  // namespace

}  // namespace arena

int main(int argc, char** argv) {
  try {
    return arena::run(argc, argv);
  } catch (const std::exception& error) {  // out of memory
    std::fprintf(stderr, "arena-probe: %s\n", error.what());
    return 1;
  }
}
