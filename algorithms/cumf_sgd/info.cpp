// batch_hogwild and wavefront: names, parameters, limits and paper.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sort_limits.hpp"
#include "algorithms/cumf_sgd/settings.hpp"

namespace mf::cumf_sgd {
namespace {

constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 27;  // 8 bytes each
constexpr double kRatingsABlock = 64;

MemoryUse memory_of(const Params& params, double preparing) {
  return {.device = {.preparing = preparing,
                     .rating = sizeof(Rating),
                     .number = stored_number_bytes(read_storage(params))}};
}

// For any device.
WavefrontShape largest_grid(const Params& params, const ProblemShape& shape) {
  return wavefront_shape(read_wavefront(params), shape, std::numeric_limits<std::int64_t>::max());
}

std::optional<std::string> why_no_wavefront(const Params& params, const ProblemShape& shape) {
  if (shape.nnz > kMostSorted) {
    return fmt::format("{} ratings, at most {} can be put in order", shape.nnz, kMostSorted);
  }
  const WavefrontShape grid = largest_grid(params, shape);
  if (grid.columns <= kMaxBlocks / grid.bands) return std::nullopt;
  return fmt::format("{} workers by {} column blocks are more than {} blocks; lower workers",
                     grid.bands, grid.columns, kMaxBlocks);
}

AlgorithmInfo shared_info(const std::string& name, std::int64_t max_factors,
                          std::vector<ParamSpec> own) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "cumf_sgd";
  info.title = "CuMF_SGD";
  info.paper =
      "X. Xie, W. Tan, L. L. Fong, Y. Liang, \"CuMF_SGD: Parallelized Stochastic Gradient Descent "
      "for Matrix Factorization on GPUs\", HPDC 2017";
  info.hardware = Hardware::cuda;
  info.starts_by_rule = true;
  info.params = join_params({factors_param(128, max_factors),
                             only_model_param(ModelKind::plain, "p.q, the paper's only")},
                            regularizer_params(0.02, false));
  info.params.push_back(storage_param());
  info.params.push_back(rounding_param(Rounding::nearest));
  info.params = join_params(std::move(info.params), std::move(own));
  return info;
}

AlgorithmInfo hogwild_info() {
  AlgorithmInfo info = shared_info(
      "batch_hogwild", kMostOfHogwild,
      {ParamSpec::choice("sampling", Sampling::replacement, kSamplings,
                         "runs are drawn anew each time (the paper), or each once a pass"),
       ParamSpec::choice("mapping", Mapping::warp, kMappings,
                         "a warp an update (the paper), or as many lanes as a row needs"),
       ParamSpec::integer("run", 256, 1, 1 << 20,
                          "consecutive shuffled ratings that a worker takes at a time", "ratings"),
       ParamSpec::integer("workers", 0, 0, 1 << 20,
                          "runs that are worked on at once, at most but for whole warps; 0: by the "
                          "smaller side of "
                          "the matrix",
                          "runs"),
       devices_param()});
  info.supports = [](const Params& params,
                     const ProblemShape& shape) -> std::optional<std::string> {
    const int devices = devices_of(params);
    if (devices == 1 || shape.nnz / devices < kMostSorted) return std::nullopt;
    return fmt::format("{} ratings on {} devices, at most {} of a device can be put in order",
                       shape.nnz, devices, kMostSorted);
  };
  info.phases = {"update", "exchange"};
  info.summary = "lock-free SGD, each warp on runs of consecutive shuffled ratings";
  info.memory = [](const Params& params) {
    return memory_of(params, devices_of(params) > 1 ? 32 : 24);
  };
  return info;
}

AlgorithmInfo wavefront_info() {
  AlgorithmInfo info = shared_info(
      "wavefront", kMostOfWavefront,
      {ParamSpec::integer("workers", 0, 0, 1 << 16,
                          "warps that own a band of users each; 0: so that a block holds about "
                          "64 ratings, and no more than the device holds",
                          "warps"),
       ParamSpec::constant("column_blocks", std::int64_t{0})});
  info.summary = "SGD by warps that own a band of users and take column blocks in random order";
  info.memory = [](const Params& params) { return memory_of(params, 32); };
  info.supports = why_no_wavefront;
  return info;
}

const RegisterInfo kHogwild(hogwild_info());
const RegisterInfo kWavefront(wavefront_info());

}  // namespace

Settings read_settings(const Params& params) {
  return {static_cast<std::int32_t>(params.integer("factors")), read_regularizers(params),
          read_storage(params), read_stochastic(params), params.integer("workers")};
}

HogwildSettings read_hogwild(const Params& params) {
  return {read_settings(params), params.choice("sampling", kSamplings),
          params.choice("mapping", kMappings), params.integer("run")};
}

WavefrontSettings read_wavefront(const Params& params) {
  return {read_settings(params), params.integer("column_blocks")};
}

WavefrontShape wavefront_shape(const WavefrontSettings& settings, const ProblemShape& shape,
                               std::int64_t resident) {
  std::int64_t bands = settings.workers;
  if (bands == 0) {
    const double wanted = std::sqrt(static_cast<double>(shape.nnz) / (2 * kRatingsABlock));
    const std::int64_t most = std::min(resident, std::max<std::int64_t>(shape.n_users, 1));
    bands = std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, most);
  }
  const std::int64_t wanted = settings.column_blocks > 0 ? settings.column_blocks : 2 * bands;
  return {bands, std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(shape.n_items, 1))};
}

}  // namespace mf::cumf_sgd
