// Foresees a run of a spec: cases, memory, time.
#pragma once

#include <optional>
#include <string>

#include "base/json/json_fwd.hpp"
#include "harness/experiment/spec.hpp"

namespace mf {

struct PlanOptions {
  bool measure = true;  // times, by probe()
  bool share = true;    // as of `mfbench run`
  // Plans as if so much were free on the device. If empty, it takes what is free now.
  std::optional<double> device_free_bytes = {};
};

// As `mfbench plan --json` prints it: "cases" and "studies", each with null for unknown numbers
// ("train_s" of a study is at most its budget), the sum of "train_s", and the peaks of memory.
Json make_plan(const Spec& spec, const PlanOptions& options);

std::string format_plan(const Json& plan, const Spec& spec);

}  // namespace mf
