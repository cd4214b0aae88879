// sgd_tiled: name, parameters, limits.
#include <fmt/core.h>

#include <algorithm>

#include "algorithms/core/device_need.hpp"
#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/sgd_tiled/ring.hpp"
#include "algorithms/sgd_tiled/rule.hpp"
#include "algorithms/sgd_tiled/settings.hpp"

namespace mf::sgd_tiled {
namespace {

std::vector<ParamSpec> params() {
  auto shared = join_params({factors_param(128, kMaxFactors), model_param(ModelKind::plain)},
                            regularizer_params());
  return join_params(
      std::move(shared),
      {storage_param(), rounding_param(Rounding::stochastic),
       ParamSpec::integer("chunk", 32, 1, 4096,
                          "most ratings of a user in a row, its factors in registers", "ratings"),
       ParamSpec::choice(
           "writes", Writes::add, kWrites,
           "how items are written: the new row is stored, or its change is added atomically, so "
           "that no update is lost"),
       ParamSpec::integer("workers", 0, 0, 1 << 20,
                          "users that are worked on at once, at most but for whole warps; 0: by "
                          "the smaller side of "
                          "the matrix",
                          "users"),
       ParamSpec::integer("thin_above", 20000, 0, std::int64_t{1} << 40,
                          "items with more ratings than this are written back by every 2nd, 4th, "
                          "... of their updates only; 0: by every one",
                          "ratings"),
       devices_param()});
}

std::optional<std::string> why_unsupported(const Params&, const ProblemShape& shape) {
  if (shape.n_items < kMaxItems) return std::nullopt;
  return fmt::format("{} items, at most {} fit beside the marks of the popular ones", shape.n_items,
                     kMaxItems - 1);
}

MemoryNeed memory_need(const Params& params, const ProblemShape& shape) {
  const Settings settings = read_settings(params);
  const int devices = devices_of(params);
  const ProblemShape of_device = share_of(shape, devices);
  const auto nnz = static_cast<double>(of_device.nnz);
  // For several devices a user has a row in each block of items; the factors of all are on each.
  const double blocks = devices > 1 ? kMostHalves * devices : 1;
  const double users = blocks * static_cast<double>(of_device.n_users);
  const double rows = static_cast<double>(shape.n_users) + static_cast<double>(shape.n_items);
  const double chunks = nnz / settings.chunk + users;
  const double own = static_cast<double>(sizeof(RowRating)) * nnz + sizeof(Chunk) * chunks;
  const double spread =
      settings.biased() ? 4.0 * static_cast<double>(item_bias_stride(shape.n_items) * shape.n_items)
                        : 0;
  const double trained =
      own + spread + rows * (stored_row_bytes(settings.storage, settings.factors) + 4);
  // The ratings lie twice while they are shuffled, and before that the chunks while they are
  // sorted.
  const double more = devices > 1 ? 8 * (nnz + users) : 0;
  const double preparing = more + std::max(56 * chunks / blocks + 8 * users, own);
  return {pinned_bytes(of_device),
          {row_ratings_bytes(of_device) + preparing, trained},
          BesideRatings{{preparing, trained}}};
}

AlgorithmInfo tiled_info() {
  AlgorithmInfo info;
  info.name = "sgd_tiled";
  info.family = "sgd_tiled";
  info.title = "SGD in registers";
  info.summary = "SGD, a user's factors in registers over a chunk of its ratings, items from L2";
  info.paper = "mfbench";
  info.hardware = Hardware::cuda;
  info.starts_by_rule = true;
  info.params = params();
  info.memory = memory_need;
  info.supports = why_unsupported;
  return info;
}

const RegisterInfo kTiled(tiled_info());

}  // namespace

Settings read_settings(const Params& params) {
  return {static_cast<std::int32_t>(params.integer("factors")),
          params.choice("model", kModelKinds),
          read_regularizers(params),
          read_storage(params),
          read_stochastic(params),
          static_cast<int>(params.integer("chunk")),
          params.choice("writes", kWrites),
          params.integer("workers"),
          params.integer("thin_above")};
}

}  // namespace mf::sgd_tiled
