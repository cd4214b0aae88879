// sgd_serial, hogwild and fpsgd: names, parameters, limits and papers.
#include <fmt/core.h>

#include <algorithm>

#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/rows.hpp"
#include "algorithms/core/threads_param.hpp"
#include "algorithms/sgd_cpu/block_grid.hpp"
#include "algorithms/sgd_cpu/block_scheduler.hpp"
#include "algorithms/sgd_cpu/settings.hpp"
#include "algorithms/sgd_cpu/stream_sgd.hpp"

namespace mf::sgd_cpu {
namespace {

constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 24;

double padded_row_bytes(const Params& params, const ProblemShape& shape) {
  const auto floats = (shape.n_users + shape.n_items) *
                      (row_stride(params.integer("factors"), sizeof(float), kLineBytes) + 1);
  return static_cast<double>(floats) * sizeof(float);
}

// Rows of both sides and one copy of the ratings in the order of the epoch.
MemoryNeed stream_memory(const Params& params, const ProblemShape& shape) {
  return {padded_row_bytes(params, shape) + static_cast<double>(shape.nnz) * sizeof(Rating), {}};
}

// That fpsgd makes.
GridShape grid_of(const Params& params, const ProblemShape& shape) {
  GridRequest request = grid_request(params.integer("factors"), shape, threads_of(params));
  request.grid_users = params.integer("grid_users");
  request.grid_items = params.integer("grid_items");
  request.keep_user_stripe = params.choice("block_order", kBlockOrders) == BlockOrder::local;
  request.ranks = ranks_of(params);
  return plan_grid(request);
}

// A user has at most one in each stripe of items, and a rating.
double most_runs(GridShape grid, const ProblemShape& shape) {
  return std::min(static_cast<double>(shape.nnz),
                  static_cast<double>(grid.items) * static_cast<double>(shape.n_users));
}

// All while they are counted; of those with ratings what the scheduler has, too.
double block_bytes(GridShape grid, const ProblemShape& shape) {
  const double blocks = static_cast<double>(grid.users) * grid.items;
  return blocks * sizeof(Block) +
         std::min(blocks, static_cast<double>(shape.nnz)) * 3 * sizeof(GridCell);
}

// Rows of both sides twice (in the grid's order, and in that of the users for factors()), the
// orders, the ratings, their runs and their blocks. For several ranks the first, which gathers all
// rows; each has its share of the ratings.
MemoryNeed fpsgd_memory(const Params& params, const ProblemShape& shape) {
  const auto nnz = static_cast<double>(shape.nnz);
  const auto ids = static_cast<double>(shape.n_users + shape.n_items);
  const GridShape grid = grid_of(params, shape);
  const double blocks =
      nnz * sizeof(RowRating) + most_runs(grid, shape) * sizeof(Run) + block_bytes(grid, shape);
  return {2 * padded_row_bytes(params, shape) + ids * 20 + blocks / ranks_of(params), {}};
}

std::optional<std::string> why_unsupported(const Params& params, const ProblemShape&) {
  const std::string& simd = params.choice("simd");
  if (find_isa(simd)) return std::nullopt;
  return "simd \"" + simd + "\": this CPU lacks it";
}

std::optional<std::string> why_grid_unsupported(const Params& params, const ProblemShape& shape) {
  const GridShape grid = grid_of(params, shape);
  const std::int64_t blocks = std::int64_t{grid.users} * grid.items;
  if (blocks <= kMaxBlocks) return why_unsupported(params, shape);
  return fmt::format(
      "a grid of {} stripes of users and {} of items has {} blocks; expected at most {}: lower "
      "grid_items or threads",
      grid.users, grid.items, blocks, kMaxBlocks);
}

AlgorithmInfo shared_info(const std::string& name, std::vector<ParamSpec> own) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "sgd_cpu";
  info.title = "SGD on the CPU";
  info.params = join_params({factors_param(100, 16384), model_param(ModelKind::biased)},
                            regularizer_params());
  info.params.push_back(
      ParamSpec::choice("simd", "auto", {"auto", "scalar", "avx2", "avx512"},
                        "instruction set of the inner loop; auto: the best this CPU has"));
  info.params = join_params(std::move(info.params), std::move(own));
  info.supports = why_unsupported;
  info.memory = stream_memory;
  return info;
}

ParamSpec order_param() {
  return ParamSpec::choice("order", StreamOrder::shuffled, kStreamOrders,
                           "ratings of an epoch: shuffled anew each time; by user and item; or as "
                           "many draws, the users in turn, a random rating each (cu2rec)");
}

AlgorithmInfo serial_info() {
  AlgorithmInfo info = shared_info("sgd_serial", {order_param()});
  info.summary = "SGD over the ratings one by one: the baseline of the others";
  info.paper = "mfbench";
  info.deterministic = true;
  return info;
}

AlgorithmInfo hogwild_info() {
  AlgorithmInfo info = shared_info("hogwild", {threads_param(), order_param()});
  info.summary = "SGD by threads that share the factors without locks";
  info.paper =
      "F. Niu, B. Recht, C. Re, S. J. Wright, \"Hogwild!: A Lock-Free Approach to Parallelizing "
      "Stochastic Gradient Descent\", NIPS 2011";
  return info;
}

AlgorithmInfo fpsgd_info() {
  AlgorithmInfo info = shared_info(
      "fpsgd",
      {threads_param(),
       ParamSpec::constant("grid_users", std::int64_t{0}),
       ParamSpec::integer("grid_items", 0, 0, 65536,
                          "stripes of items; 0: from threads and cache size", "stripes"),
       ParamSpec::choice("block_order", BlockOrder::random, kBlockOrders,
                         "next block of a thread: a random free one, one of its user stripe if it "
                         "can, or the first free one"),
       ranks_param()});
  info.summary = "SGD over a grid of blocks; threads work on blocks that share no row or column";
  info.paper =
      "W.-S. Chin, Y. Zhuang, Y.-C. Juan, C.-J. Lin, \"A Fast Parallel Stochastic Gradient Method "
      "for Matrix Factorization in Shared Memory Systems\", ACM TIST 6(1), 2015";
  info.supports = why_grid_unsupported;
  info.memory = fpsgd_memory;
  return info;
}

const RegisterInfo kSerial(serial_info());
const RegisterInfo kHogwild(hogwild_info());
const RegisterInfo kFpsgd(fpsgd_info());

}  // namespace

Settings read_settings(const Params& params) {
  return {static_cast<std::int32_t>(params.integer("factors")), params.choice("model", kModelKinds),
          read_regularizers(params), choose_isa(params.choice("simd"))};
}

Work epoch_work(const Settings& settings, const RatedShape& shape) {
  const int row_floats = settings.factors + (settings.model == ModelKind::biased ? 1 : 0);
  return pass_work(shape, settings.factors, settings.model, sizeof(Rating),
                   static_cast<double>(row_floats) * sizeof(float));
}

}  // namespace mf::sgd_cpu
