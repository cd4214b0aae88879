// What a spec would do, before it does it: cases, memory, time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/core/foreign.hpp"
#include "base/host/memory_limit.hpp"
#include "harness/experiment/spec.hpp"

namespace mf {

struct PlannedCase {
  std::string id;
  Metric metric;                       // what its models are judged by first
  std::optional<std::string> note;     // why it would not run
  std::optional<double> host_bytes;    // nothing: the size of the data is not known
  std::optional<ProcessNeed> process;  // of the process that it trains in, if any
  std::optional<double> device_bytes;  // nothing for the CPU, too
  std::optional<double> train_s;       // nothing where it cannot be told

  std::optional<double> all_host_bytes() const;  // of both, as far as it is known
};

// The trials of a study.
struct PlannedStudy {
  std::string label;
  std::int64_t trials = 0;
  std::int64_t runs = 0;          // of all rungs, at most
  std::int64_t epochs = 0;        // of these runs
  std::optional<double> train_s;  // at most the budget; nothing where it cannot be told
};

struct Plan {
  std::vector<PlannedCase> cases;
  std::vector<PlannedStudy> studies;
  double total_train_s = 0;  // of the cases and trials that could be estimated
  int not_estimated = 0;
  double peak_host_bytes = 0;  // of the cases of which it is known
  double peak_device_bytes = 0;
  MemoryBound available;  // what the host leaves now, and what limits it
};

struct PlanOptions {
  bool measure = true;  // times, by rate_of()
  bool share = true;    // as of `mfbench run`
  // As if so much were free on the device; nothing: what is, where there is one.
  std::optional<double> device_free_bytes = {};
};

Plan make_plan(const Spec& spec, const PlanOptions& options);

std::string format_plan(const Plan& plan, const Spec& spec);
Json to_json(const Plan& plan);

}  // namespace mf
