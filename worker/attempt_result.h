#pragma once
// Puts what an attempt measured together into task_result.yaml's values. Pure.
#include "device/telemetry.h"
#include "model/score.h"
#include "model/task_result.h"
#include "worker/candidate.h"
#include "worker/evaluation.h"

namespace arena {

struct AttemptFacts {
  std::string run_id;
  std::string task_name;
  std::int64_t attempt = 0;
  std::string worker_id;
  std::string task_digest;
  std::string device;
  std::map<std::string, std::string> device_facts;
  std::map<std::string, TelemetrySummary> telemetry;  // by side: baseline, evaluation
  std::string agent_name;
  ScoreFormula formula = ScoreFormula::points;
  Measurement baseline;
  CandidateRecord candidate;
  Verdict verdict;
  std::map<std::string, std::int64_t> durations_ms;  // of the phases
};

// Every number that was not measured is absent, and not_measured says why. The score is always there.
TaskResult make_result(const AttemptFacts& facts);

}  // namespace arena
