#pragma once
// A runner that starts nothing: the test says what each run does, in order. A run nobody scripted is an
// error.
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "os/process.h"

namespace arena {

class ScriptedProcessRunner final : public ProcessRunner {
 public:
  // May write spec.output_file, change the workspace, ask to stop, …
  using Script = std::function<Result<ProcessOutcome>(const ProcessSpec& spec)>;

  void add(Script script) { scripts_.push_back(std::move(script)); }
  void add(ProcessOutcome outcome) {
    add([outcome](const ProcessSpec&) -> Result<ProcessOutcome> { return outcome; });
  }
  void otherwise(Script script) { otherwise_ = std::move(script); }  // for every run after the last one added
  void request_stop() { stop_requested_ = true; }

  Result<ProcessOutcome> run(const ProcessSpec& spec) override {
    if (stop_requested_) return ended(Stopped{});
    specs_.push_back(spec);
    Script script = otherwise_;
    if (!scripts_.empty()) {
      script = std::move(scripts_.front());
      scripts_.pop_front();
    }
    if (!script)
      return fail(ErrorCode::io,
                  "no script for a run of '" + (spec.argv.empty() ? "" : spec.argv.front()) + "'");
    return script(spec);
  }
  bool stop_requested() override { return stop_requested_; }

  const std::vector<ProcessSpec>& specs() const { return specs_; }  // of the runs so far
  std::size_t scripts_left() const { return scripts_.size(); }

  static ProcessOutcome ended(ProcessEnd end) {
    ProcessOutcome outcome;
    outcome.end = end;
    return outcome;
  }

 private:
  std::deque<Script> scripts_;
  Script otherwise_;
  std::vector<ProcessSpec> specs_;
  bool stop_requested_ = false;
};

}  // namespace arena
