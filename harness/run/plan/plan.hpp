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
  Metric metric;                         // what its models are judged by first
  std::optional<std::string> note;       // why it would not run
  std::optional<double> host_bytes;      // nothing: the size of the data is not known
  std::optional<ProcessNeed> process;    // of the process that it trains in, if any
  std::optional<double> all_host_bytes;  // of both, as far as it is known
  std::optional<double> device_bytes;    // with the evaluator's; nothing for the CPU, too
  // What must be free there for it to start; nothing for the CPU.
  std::optional<double> least_device_bytes;
  // Where R stays on the device for other cases: as it is decided where there is one.
  std::optional<double> shared_device_bytes;
  std::optional<double> train_s;  // estimated; nothing where it cannot be told
};

// The trials of a study.
struct PlannedStudy {
  std::string label;
  std::int64_t trials = 0;
  std::int64_t runs = 0;          // of all rungs, at most
  std::int64_t epochs = 0;        // of these runs
  std::optional<double> train_s;  // estimated, at most the budget; nothing where it cannot be told
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
  // Times come from a short run of each algorithm with its parameters on a small look-alike (about
  // 0.1 s each): a rough guide, since large factors fall out of the caches.
  bool measure = true;
  bool share = true;  // as of `mfbench run`
  // As if so much were free on the device; nothing: what is, where there is one.
  std::optional<double> device_free_bytes = {};
};

Plan make_plan(const Spec& spec, const PlanOptions& options);

std::string format_plan(const Plan& plan, const Spec& spec);
Json to_json(const Plan& plan);

}  // namespace mf
