#include "algorithms/cumf_sgd/settings.hpp"

#include <fmt/core.h>

namespace mf::cumf_sgd {
namespace {

constexpr double kRatingBytes = 12;
constexpr double kStagingBytes = 32e6;
constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 27;  // 8 bytes each

}  // namespace

std::vector<ParamSpec> shared_params() {
  std::vector<ParamSpec> all = {
      ParamSpec::integer("factors", 128, 1, kMaxFactors, "length f of the rows of P and Q"),
      ParamSpec::choice("model", "plain", {"plain"}, "p.q, the paper's only")};
  for (auto& regularizer : regularizer_params()) {
    if (regularizer.name.find("bias") == std::string::npos) all.push_back(std::move(regularizer));
  }
  all.push_back(storage_param());
  all.push_back(rounding_param("nearest"));
  return all;
}

ParamSpec sampling_param() {
  return ParamSpec::choice("sampling", "replacement", {"replacement", "passes"},
                           "runs are drawn anew each time (the paper), or each once a pass");
}

ParamSpec mapping_param() {
  return ParamSpec::choice("mapping", "warp", {"warp", "group"},
                           "a warp an update (the paper), or as many lanes as a row needs");
}

ParamSpec run_param() {
  return ParamSpec::integer("run", 256, 1, 1 << 20,
                            "consecutive shuffled ratings that a worker takes at a time",
                            "ratings");
}

ParamSpec hogwild_workers_param() {
  return ParamSpec::integer("workers", 0, 0, 1 << 20,
                            "runs that are worked on at once, at most; 0: by the smaller side of "
                            "the matrix",
                            "runs");
}

ParamSpec workers_param() {
  return ParamSpec::integer("workers", 0, 0, 1 << 16,
                            "warps that own a band of users each; 0: so that a block holds about "
                            "64 ratings, and no more than the device holds",
                            "warps");
}

ParamSpec column_blocks_param() {
  return ParamSpec::integer("column_blocks", 0, 0, 1 << 20,
                            "parts of the items; 0: twice the workers", "blocks");
}

Settings read_settings(const Params& params) {
  Settings settings;
  settings.factors = static_cast<std::int32_t>(params.integer("factors"));
  const double reg = params.number("reg");
  const double p = params.number("reg_p");
  const double q = params.number("reg_q");
  settings.reg = {p < 0 ? reg : p, q < 0 ? reg : q, 0, 0};
  settings.storage = read_storage(params);
  settings.stochastic = read_stochastic(params);
  settings.workers = params.integer("workers");
  if (params.has("sampling")) {
    settings.sampling =
        params.choice("sampling") == "passes" ? Sampling::passes : Sampling::replacement;
    settings.mapping = params.choice("mapping") == "warp" ? Mapping::warp : Mapping::group;
    settings.run = static_cast<int>(params.integer("run"));
  } else {
    settings.column_blocks = params.integer("column_blocks");
  }
  return settings;
}

MemoryNeed memory_need(const Params& params, const ProblemShape& shape) {
  const Settings settings = read_settings(params);
  const double nnz = static_cast<double>(shape.nnz);
  const double rows = static_cast<double>(shape.n_users) + static_cast<double>(shape.n_items);
  // The ratings lie twice while they are put in order.
  return {kStagingBytes + (params.has("sampling") ? 0 : kRatingBytes * nnz),
          rows * stored_row_bytes(settings.storage, settings.factors) + 2 * kRatingBytes * nnz};
}

std::optional<std::string> why_grid_unsupported(const Params& params, const ProblemShape&) {
  const std::int64_t blocks = params.integer("workers") * params.integer("column_blocks");
  if (blocks <= kMaxBlocks) return std::nullopt;
  return fmt::format("workers x column_blocks is {}, above {} blocks", blocks, kMaxBlocks);
}

Work pass_work(const Settings& settings, const Ratings& train) {
  const auto nnz = static_cast<double>(train.nnz());
  const auto rows = static_cast<double>(count_rating_users(train) + count_rated_items(train));
  Work work;
  work.updates = nnz;
  work.bytes = nnz * kRatingBytes + 2 * rows * settings.factors * storage_bytes(settings.storage);
  work.flops = nnz * (10.0 * settings.factors + 2.0);
  return work;
}

}  // namespace mf::cumf_sgd
