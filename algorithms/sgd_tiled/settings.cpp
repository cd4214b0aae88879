#include "algorithms/sgd_tiled/settings.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace mf::sgd_tiled {
namespace {

constexpr double kEntryBytes = 8;   // item and value
constexpr double kChunkBytes = 16;  // begin, user, count

}  // namespace

std::vector<ParamSpec> params() {
  std::vector<ParamSpec> all = {
      ParamSpec::integer("factors", 128, 1, kMaxFactors, "length f of the rows of P and Q"),
      ParamSpec::choice("model", "plain", {"biased", "plain"},
                        "biased: mu + b_u + c_i + p.q; plain: p.q")};
  for (auto& regularizer : regularizer_params()) all.push_back(std::move(regularizer));
  all.push_back(storage_param());
  all.push_back(rounding_param("stochastic"));
  all.push_back(ParamSpec::integer("chunk", 32, 1, 4096,
                                   "most ratings of a user in a row, its factors in registers",
                                   "ratings"));
  all.push_back(ParamSpec::integer("workers", 0, 0, 1 << 20,
                                   "users that are worked on at once, at most; 0: by the smaller "
                                   "side of the matrix",
                                   "users"));
  all.push_back(ParamSpec::integer(
      "thin_above", 20000, 0, std::int64_t{1} << 40,
      "items with more ratings than this are written back by every 2nd, 4th, ... of their updates "
      "only; 0: by every one",
      "ratings"));
  return all;
}

Settings read_settings(const Params& params) {
  Settings settings;
  settings.factors = static_cast<std::int32_t>(params.integer("factors"));
  settings.model = parse_model_kind(params.choice("model"));
  settings.reg = read_regularizers(params);
  settings.storage = read_storage(params);
  settings.stochastic = read_stochastic(params);
  settings.chunk = static_cast<int>(params.integer("chunk"));
  settings.workers = params.integer("workers");
  settings.thin_above = params.integer("thin_above");
  return settings;
}

std::optional<std::string> why_unsupported(const Params&, const ProblemShape& shape) {
  if (shape.n_items < kMaxItems) return std::nullopt;
  return fmt::format("{} items, at most {} fit beside the marks of the popular ones", shape.n_items,
                     kMaxItems - 1);
}

MemoryNeed memory_need(const Params& params, const ProblemShape& shape) {
  const Settings settings = read_settings(params);
  const auto nnz = static_cast<double>(shape.nnz);
  const auto rows = static_cast<double>(shape.n_users) + static_cast<double>(shape.n_items);
  const double chunks = kChunkBytes * (nnz / settings.chunk + static_cast<double>(shape.n_users));
  // The entries lie twice while they are shuffled.
  const double device = rows * (stored_row_bytes(settings.storage, settings.factors) + 4) +
                        2 * kEntryBytes * nnz + chunks +
                        8 * (static_cast<double>(shape.n_users) + 1);
  return {2 * chunks + 32e6, device};
}

Work pass_work(const Settings& settings, const Ratings& train) {
  const auto nnz = static_cast<double>(train.nnz());
  const auto rows = static_cast<double>(count_rating_users(train) + count_rated_items(train));
  const bool biased = settings.model == ModelKind::biased;
  const double row = settings.factors * storage_bytes(settings.storage) + (biased ? 4.0 : 0.0);
  Work work;
  work.updates = nnz;
  work.bytes = nnz * kEntryBytes + 2 * rows * row;
  work.flops = nnz * (10.0 * settings.factors + (biased ? 13.0 : 2.0));
  return work;
}

}  // namespace mf::sgd_tiled
