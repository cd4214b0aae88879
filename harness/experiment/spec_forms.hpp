// The keys of a spec, as tables: read by spec_entries.cpp and spec.cpp, written as a JSON Schema by
// schema.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json/form.hpp"
#include "datasets/dataset_entry.hpp"
#include "harness/experiment/spec.hpp"

namespace mf {

inline constexpr Names kInitKindNames{
    std::to_array<Named<InitKind>>({{"normal", InitKind::normal},
                                    {"uniform", InitKind::uniform},
                                    {"normal_over_factors", InitKind::normal_over_factors}})};

// An entry may set for itself how often it is evaluated. All share the evaluated quantities.
struct OwnEvaluateSpec {
  std::optional<std::int64_t> every;
};

// An entry of "algorithms" without lists.
struct AlgorithmEntry {
  std::string name;
  std::string path;  // for messages
  Params params;
  ScheduleSpec schedule;
  std::optional<double> learning_rate;  // instead of the schedule's
  StartSpec init;
  StopSpec stop;
  OwnEvaluateSpec evaluate;
  std::optional<TuneSpec> tune;
};

// The top of a spec. Sweeps are read entry by entry, from the JSON itself.
struct SpecKeys {
  std::string schema;
  std::string name;
  std::string description;
  std::string baseline;
  std::optional<double> target_rmse;
  std::optional<TargetSpec> target;
  bool save_model = false;
  std::vector<std::uint64_t> seeds = {1};
  EvaluateSpec evaluate;
  const Json* split = nullptr;
  const Json* datasets = nullptr;
  const Json* algorithms = nullptr;
  const Json* schedule = nullptr;
  const Json* init = nullptr;
  const Json* stop = nullptr;
};

const Form<StartSpec>& init_form();
const Form<AlgorithmEntry>& algorithm_form();
const Form<SpecKeys>& spec_form();
FormInfo spec_form_info();  // with every data set that is known here

}  // namespace mf
