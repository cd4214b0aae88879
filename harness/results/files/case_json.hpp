// The header and the footer of a result file. docs/results.md has the keys.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "base/json/json.hpp"
#include "harness/device/device_clock.hpp"
#include "harness/experiment/profile.hpp"
#include "harness/experiment/spec.hpp"
#include "harness/results/files/case_data.hpp"
#include "harness/results/files/case_result.hpp"
#include "harness/results/meaning/ranges.hpp"

namespace mf {

// Facts of the header that are neither in the spec nor of the data.
struct HeaderFacts {
  std::optional<ProfileWindow> profile;
  Json environment;  // at the start of the case
  Work work;
  Json facts = Json::object();  // of the algorithm
  Json loss;                    // of implicit feedback, or null
  Json ranking;                 // the users that items are ranked for, or null
  Json placement;               // of threads and memory; null if no thread was made
};

// `data` may be empty (loading failed).
Json header_json(const Spec& spec, const Case& item, const CaseData& data,
                 const HeaderFacts& facts);

// {"min", "median", "max", "samples", "in_epochs"} of one number of the readings, those within
// epochs and those right after; or null.
Json seen_json(const std::vector<DeviceReading>& within, const std::vector<DeviceReading>& after,
               std::optional<double> DeviceReading::*number);

// {"memory", "cpus"} of this process, as the system has bound it.
Json placement_json();

// Sets final_test_rmse and best_test_rmse, of a trial on the validation part, and "metrics" to
// {"ndcg_100": {"final", "best", "best_epoch"}, ...} of the others.
void set_metrics(Json& json, const CaseResult& result);

Json footer_json(const CaseResult& result, const CaseMeasures& measures, const Ranges& ranges);

}  // namespace mf
