// Checks and times one single-precision CPU kernel. A task's test/main.cc describes the kernel in a Task and
// hands it to kit::run(), which does the rest: random inputs, comparison, timing, report. README.md tells how
// and why.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace kit {

// The sizes of one case, e.g. {64, 1000}; their meaning is in Task::dimensions.
using Shape = std::vector<int>;

// One pointer per input buffer. Aligned as a float is, no better: a kernel must not assume more.
using Inputs = std::vector<const float*>;

// What one output element should be, and by how much a kernel may miss it.
struct Expected {
  double value;
  double tolerance;
};

// SplitMix64. Unlike the distributions of <random>, it gives the same numbers with every standard library.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
  float uniform(double low, double high) {
    return static_cast<float>(low + (high - low) * (static_cast<double>(next() >> 11) * 0x1p-53));
  }

 private:
  std::uint64_t state_;
};

// Everything the kit has to know about a kernel.
struct Task {
  std::vector<std::string> dimensions;                    // names of a shape's numbers, e.g. {"rows", "cols"}
  std::vector<Shape> correctness_shapes;                  // small and awkward
  std::vector<Shape> performance_shapes;                  // large enough to time
  std::vector<std::size_t> (*input_sizes)(const Shape&);  // elements of each input buffer
  std::size_t (*output_size)(const Shape&);
  float (*random_value)(Rng&, std::size_t input);  // one element of the input with that index
  void (*kernel)(const Shape&, const Inputs&, float* output);
  // Fills in, in double precision, what the output should be. `expected` comes as long as the output, and
  // zero.
  void (*reference)(const Shape&, const Inputs&, std::vector<Expected>& expected);
};

// "rows64_cols1000"
inline std::string case_id(const Task& task, const Shape& shape) {
  std::string id;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    id += (i ? "_" : "") + task.dimensions[i] + std::to_string(shape[i]);
  }
  return id;
}

// Floats whose first element lies on a cache line.
class AlignedFloats {
 public:
  explicit AlignedFloats(std::size_t size) : lines_(size / kPerLine + 1) {}
  float* data() { return lines_.front().values; }

 private:
  static constexpr std::size_t kPerLine = 16;
  struct alignas(64) Line {
    float values[kPerLine];
  };
  std::vector<Line> lines_;
};

// One set of inputs with its output, and what is needed to call the kernel on it and to judge what it did.
//
// Buffers are longer than the kernel is told: it sees a window. The window of an input can be moved, which
// gives new inputs without filling the buffers again; the output's window has guards on both sides, which
// must stay untouched.
class Trial {
 public:
  enum class Alignment { cache_line, any };

  Trial(const Task& task, const Shape& shape, Alignment alignment, Rng& rng)
      : task_(task),
        shape_(shape),
        step_(alignment == Alignment::any ? 1 : 16),
        input_sizes_(task.input_sizes(shape)),
        output_size_(task.output_size(shape)),
        output_(output_size_ + 2 * kGuard + kSlack) {
    for (std::size_t i = 0; i < input_sizes_.size(); ++i) {
      inputs_.emplace_back(input_sizes_[i] + kSlack);
      float* values = inputs_[i].data();
      for (std::size_t j = 0; j < input_sizes_[i] + kSlack; ++j) values[j] = task.random_value(rng, i);
      pristine_.emplace_back(values, values + input_sizes_[i] + kSlack);
    }
    renew(rng);
  }
  // Moves keep the buffers where they are; a copy would leave its windows in the original's.
  Trial(Trial&&) = default;

  // Changes the inputs (another window, with a fresh value in it), and poisons the output.
  void renew(Rng& rng) {
    windows_.clear();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::size_t offset = step_ * rng.below(kSlack / step_);
      const std::size_t fresh = offset + rng.below(input_sizes_[i]);
      inputs_[i].data()[fresh] = pristine_[i][fresh] = task_.random_value(rng, i);
      windows_.push_back(inputs_[i].data() + offset);
    }
    result_ = output_.data() + kGuard + step_ * rng.below(kSlack / step_);
    std::memset(result_ - kGuard, kPoison, (output_size_ + 2 * kGuard) * sizeof(float));
  }

  void call() { task_.kernel(shape_, windows_, result_); }

  // What is wrong with the latest call, in words; empty if nothing is.
  std::string check() {
    std::string fault = check_inputs();
    if (fault.empty()) fault = check_guards();
    if (fault.empty()) fault = check_result();
    return fault;
  }

 private:
  static constexpr std::size_t kSlack = 1024;  // how far windows can move, in elements
  static constexpr std::size_t kGuard = 64;    // elements before and after the output's window
  static constexpr int kPoison = 0xff;         // four such bytes are a NaN

  std::string check_inputs() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const float* values = inputs_[i].data();
      for (std::size_t j = 0; j < pristine_[i].size(); ++j) {
        if (std::memcmp(&values[j], &pristine_[i][j], sizeof(float)) == 0) continue;
        const long index = static_cast<long>(&values[j] - windows_[i]);
        return "input " + std::to_string(i) + " was modified at index " + std::to_string(index);
      }
    }
    return "";
  }

  std::string check_guards() const {
    const std::uint32_t poison = 0xffffffffu;
    for (std::size_t i = 0; i < kGuard; ++i) {
      const long before = -1 - static_cast<long>(i);
      const long after = static_cast<long>(output_size_ + i);
      for (const long index : {before, after}) {
        if (std::memcmp(result_ + index, &poison, sizeof poison) == 0) continue;
        return "output[" + std::to_string(index) + "] was written, but the output has " +
               std::to_string(output_size_) + " elements";
      }
    }
    return "";
  }

  std::string check_result() {
    expected_.assign(output_size_, {0, 0});
    task_.reference(shape_, windows_, expected_);
    std::size_t wrong = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < output_size_; ++i) {
      // Written so that a NaN, which compares false with everything, is wrong.
      if (std::fabs(result_[i] - expected_[i].value) <= expected_[i].tolerance) continue;
      if (wrong++ == 0) first = i;
    }
    if (wrong == 0) return "";
    char text[256];
    std::snprintf(text, sizeof text,
                  "output[%zu] is %.9g, expected %.9g, tolerance %.3g (%zu of %zu elements are wrong)", first,
                  static_cast<double>(result_[first]), expected_[first].value, expected_[first].tolerance,
                  wrong, output_size_);
    return text;
  }

  const Task& task_;
  const Shape shape_;
  const std::size_t step_;  // windows start at multiples of this many elements
  std::vector<std::size_t> input_sizes_;
  std::size_t output_size_;
  std::vector<AlignedFloats> inputs_;
  std::vector<std::vector<float>> pristine_;  // what inputs_ must still hold after a call
  AlignedFloats output_;
  std::vector<Expected> expected_;
  Inputs windows_;
  float* result_ = nullptr;
};

// Prints the verdict on a case, at once in case the next one crashes. True if there is no fault.
inline bool passed(const std::string& id, const std::string& fault) {
  if (fault.empty()) {
    std::printf("PASS %s\n", id.c_str());
  } else {
    std::printf("FAIL %s: %s\n", id.c_str(), fault.c_str());
  }
  std::fflush(stdout);
  return fault.empty();
}

inline bool check_correctness(const Task& task, Rng& rng) {
  constexpr int kCalls = 3;  // with other inputs each, so that a remembered result shows
  bool all_passed = true;
  for (const Shape& shape : task.correctness_shapes) {
    Trial trial(task, shape, Trial::Alignment::any, rng);
    std::string fault;
    for (int i = 0; i < kCalls && fault.empty(); ++i) {
      trial.renew(rng);
      trial.call();
      fault = trial.check();
    }
    if (!passed(case_id(task, shape), fault)) all_passed = false;
  }
  return all_passed;
}

struct Timing {
  double milliseconds = 0;  // per call, median of the samples
  int samples = 0;
  int calls_per_sample = 0;
  std::string fault;  // what a checked call got wrong
};

// Milliseconds that one call on every trial takes, all with new inputs.
inline double time_pass(std::vector<Trial>& ring, Rng& rng) {
  using Clock = std::chrono::steady_clock;
  for (Trial& trial : ring) trial.renew(rng);
  const Clock::time_point start = Clock::now();
  for (Trial& trial : ring) trial.call();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

inline Timing time_kernel(const Task& task, const Shape& shape, Rng& rng) {
  constexpr int kRing = 4;  // sets of inputs that take turns
  constexpr int kSamples = 9;
  constexpr double kSampleLength = 10;  // milliseconds, at least; far above the clock's resolution
  constexpr int kWarmUpPasses = 3;

  std::vector<Trial> ring;
  for (int i = 0; i < kRing; ++i) ring.emplace_back(task, shape, Trial::Alignment::cache_line, rng);

  double pass = time_pass(ring, rng);
  for (int i = 1; i < kWarmUpPasses; ++i) pass = std::min(pass, time_pass(ring, rng));
  const int passes = 1 + static_cast<int>(kSampleLength / std::max(pass, 1e-3));

  Timing timing;
  timing.samples = kSamples;
  timing.calls_per_sample = passes * kRing;
  std::vector<double> samples;
  for (int s = 0; s < kSamples && timing.fault.empty(); ++s) {
    double total = 0;
    for (int p = 0; p < passes; ++p) total += time_pass(ring, rng);
    samples.push_back(total / timing.calls_per_sample);
    timing.fault = ring[rng.below(ring.size())].check();
  }
  std::sort(samples.begin(), samples.end());
  timing.milliseconds = samples[samples.size() / 2];
  return timing;
}

// One object of the report.
inline std::string report_entry(const Task& task, const Shape& shape, double milliseconds) {
  std::string numbers;
  std::string names;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::string separator = i ? ", " : "";
    numbers += separator + std::to_string(shape[i]);
    names += separator + "\"" + task.dimensions[i] + "\": " + std::to_string(shape[i]);
  }
  char time[32];
  std::snprintf(time, sizeof time, "%.9g", milliseconds);
  return "  {\"test_case_id\": \"" + case_id(task, shape) + "\", \"execution_time_ms\": " + time +
         ", \"shape\": [" + numbers + "], \"params\": {" + names +
         "}, \"benchmark_method\": \"cpu_steady_clock_median\"}";
}

inline bool write_file(const char* path, const std::string& text) {
  std::FILE* file = std::fopen(path, "w");
  if (!file) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return (std::fclose(file) == 0) && written;
}

// Writes the report only if every checked result was right: there is no time for a wrong kernel.
inline bool measure_performance(const Task& task, Rng& rng) {
  const char* const kReport = "build/performance_report.json";
  std::remove(kReport);
  std::string entries;
  for (const Shape& shape : task.performance_shapes) {
    const Timing timing = time_kernel(task, shape, rng);
    if (!passed(case_id(task, shape), timing.fault)) return false;
    std::printf("     %.6f milliseconds per call, median of %d samples of %d calls\n", timing.milliseconds,
                timing.samples, timing.calls_per_sample);
    entries += (entries.empty() ? "" : ",\n") + report_entry(task, shape, timing.milliseconds);
  }
  if (write_file(kReport, "[\n" + entries + "\n]\n")) return true;
  std::printf("FAIL: cannot write %s; run from the task's folder\n", kReport);
  return false;
}

// The program: --correctness or --performance, and optionally --seed N to repeat an earlier run.
// Exit code: 0 passed, 1 failed, 2 wrong usage.
inline int run(int argc, char** argv, const Task& task) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const bool has_seed = argc == 4 && std::string(argv[2]) == "--seed";
  if ((mode != "--correctness" && mode != "--performance") || (argc != 2 && !has_seed)) {
    std::fprintf(stderr, "usage: %s --correctness|--performance [--seed N]\n", argv[0]);
    return 2;
  }
  // A new seed each time, so that no kernel can be made for the numbers it will meet.
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const std::uint64_t seed = has_seed ? std::strtoull(argv[3], nullptr, 10) : static_cast<std::uint64_t>(now);
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Rng rng(seed);
  return (mode == "--correctness" ? check_correctness(task, rng) : measure_performance(task, rng)) ? 0 : 1;
}

}  // namespace kit
