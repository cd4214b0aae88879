// The parameters of batch_hogwild and wavefront, resolved.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/sgd_params.hpp"
#include "algorithms/core/storage.hpp"

namespace mf::cumf_sgd {

enum class Sampling { replacement, passes };
// warp: a warp an update, as published; group: as many lanes an update as a row needs.
enum class Mapping { warp, group };

struct Settings {
  std::int32_t factors = 128;
  Regularizers reg;
  Storage storage = Storage::fp16;
  bool stochastic = false;
  // batch_hogwild
  Sampling sampling = Sampling::replacement;
  Mapping mapping = Mapping::warp;
  int run = 256;
  std::int64_t workers = 0;  // 0: by the device and the data
  // wavefront; 0: by the workers
  std::int64_t column_blocks = 0;
};

constexpr std::int64_t kMaxFactors = 512;

std::vector<ParamSpec> shared_params();
ParamSpec sampling_param();
ParamSpec mapping_param();
ParamSpec run_param();
ParamSpec hogwild_workers_param();
ParamSpec workers_param();
ParamSpec column_blocks_param();

Settings read_settings(const Params& params);
MemoryNeed memory_need(const Params& params, const ProblemShape& shape);
std::optional<std::string> why_grid_unsupported(const Params& params, const ProblemShape& shape);

// Compulsory work of a pass; README.md derives it.
Work pass_work(const Settings& settings, const Ratings& train);

}  // namespace mf::cumf_sgd
