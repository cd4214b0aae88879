// The header and the footer of a result file. docs/results.md has the keys.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.hpp"
#include "harness/ranges.hpp"
#include "harness/runner.hpp"
#include "harness/user_groups.hpp"

namespace mf {

// `data` may be empty (loading failed). `environment` is that of the start of the case.
Json header_json(const Case& item, const CaseData& data, const RunSettings& settings,
                 const Work& work, const Json& facts, const Json& environment);

// What a case has measured, beside its result.
struct CaseMeasures {
  double load_s = 0;
  double evaluate_s = 0;
  std::optional<double> train_device_s;
  std::optional<std::int64_t> peak_device_bytes;
  std::vector<double> sm_clocks_hz;  // samples
  std::vector<UserGroup> user_groups;
};

Json footer_json(const CaseResult& result, const CaseMeasures& measures, const Ranges& ranges);

// {"min", "median", "max", "samples"}, or null for none.
Json clocks_json(const std::vector<double>& samples);

}  // namespace mf
