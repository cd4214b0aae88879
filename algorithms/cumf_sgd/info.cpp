// batch_hogwild and wavefront: names, parameters, limits and paper.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/core/device_need.hpp"
#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/cumf_sgd/settings.hpp"

namespace mf::cumf_sgd {
namespace {

constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 27;  // 8 bytes each
constexpr double kRatingsABlock = 64;

double trained_bytes(const Params& params, const ProblemShape& shape) {
  const Settings settings = read_settings(params);
  const auto rows = static_cast<double>(shape.n_users + shape.n_items);
  return rows * stored_row_bytes(settings.storage, settings.factors) +
         static_cast<double>(shape.nnz) * sizeof(Rating);
}

// `preparing`: with R by rows.
MemoryNeed need_of(const ProblemShape& shape, double preparing, double trained) {
  return {pinned_bytes(shape),
          {preparing, trained},
          BesideRatings{{preparing - row_ratings_bytes(shape), trained}}};
}

// While they are shuffled, the ratings also lie by user, with the user of each. For several devices
// each has all of the model, and its ratings are sorted by segment.
MemoryNeed hogwild_need(const Params& params, const ProblemShape& shape) {
  const int devices = devices_of(params);
  if (devices > 1) {
    ProblemShape own = shape;
    own.n_users = (shape.n_users + devices - 1) / devices;
    own.nnz = (shape.nnz + devices - 1) / devices;
    const double items = 12.0 * static_cast<double>(shape.n_items);
    return need_of(own, sorting_bytes(own, sizeof(std::uint32_t)) + items,
                   trained_bytes(params, {shape.n_users, shape.n_items, own.nnz}));
  }
  const double shuffling =
      row_ratings_bytes(shape) + static_cast<double>(shape.nnz) * (sizeof(Rating) + 4);
  return need_of(shape, shuffling, trained_bytes(params, shape));
}

// On whatever device.
WavefrontShape largest_grid(const Params& params, const ProblemShape& shape) {
  return wavefront_shape(read_wavefront(params), shape, std::numeric_limits<std::int64_t>::max());
}

// While they are put in the order of the blocks, the ratings also lie by user.
MemoryNeed wavefront_need(const Params& params, const ProblemShape& shape) {
  const double parts = 4.0 * static_cast<double>(shape.n_users + 5 * shape.n_items);
  const WavefrontShape grid = largest_grid(params, shape);
  const auto columns = static_cast<double>(grid.columns);
  const double blocks = 8 * (static_cast<double>(grid.bands) * columns + 1);
  return need_of(shape, sorting_bytes(shape, sizeof(std::uint32_t)) + parts + blocks,
                 trained_bytes(params, shape) + blocks + 4 * columns);
}

std::optional<std::string> why_no_wavefront(const Params& params, const ProblemShape& shape) {
  if (shape.nnz > kMostSorted) {
    return fmt::format("{} ratings, at most {} can be put in order", shape.nnz, kMostSorted);
  }
  const WavefrontShape grid = largest_grid(params, shape);
  if (grid.columns <= kMaxBlocks / grid.bands) return std::nullopt;
  return fmt::format(
      "{} workers by {} column blocks are more than {} blocks; lower workers",
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
  info.summary = "lock-free SGD, each warp on runs of consecutive shuffled ratings";
  info.memory = hogwild_need;
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
  info.memory = wavefront_need;
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
