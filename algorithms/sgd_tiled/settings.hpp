// The parameters of sgd_tiled, resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/sgd_params.hpp"
#include "algorithms/core/storage.hpp"

namespace mf::sgd_tiled {

struct Settings {
  std::int32_t factors = 128;
  ModelKind model = ModelKind::plain;
  Regularizers reg;
  Storage storage = Storage::fp16;
  bool stochastic = true;
  int chunk = 32;
  std::int64_t workers = 0;     // 0: automatic
  std::int64_t thin_above = 0;  // 0: never
};

// Longest row: 32 lanes hold it in registers.
constexpr std::int64_t kMaxFactors = 512;
// The upper bits of an item's word hold its thinning (rule.hpp).
constexpr std::int64_t kMaxItems = std::int64_t{1} << 28;

std::vector<ParamSpec> params();
Settings read_settings(const Params& params);
MemoryNeed memory_need(const Params& params, const ProblemShape& shape);

std::optional<std::string> why_unsupported(const Params& params, const ProblemShape& shape);

// Compulsory work of a pass; README.md derives it.
Work pass_work(const Settings& settings, const Ratings& train);

}  // namespace mf::sgd_tiled
