// sgd_serial, hogwild and fpsgd: names, parameters, limits and papers.
#include <fmt/core.h>

#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/threads_param.hpp"
#include "algorithms/sgd_cpu/block_grid.hpp"
#include "algorithms/sgd_cpu/settings.hpp"
#include "algorithms/sgd_cpu/stream_sgd.hpp"

namespace mf::sgd_cpu {
namespace {

constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 24;

// That fpsgd makes.
GridShape grid_of(const Params& params, const ProblemShape& shape) {
  GridRequest request = grid_request(params, shape, threads_of(params));
  request.ranks = ranks_of(params);
  return plan_grid(request);
}

std::optional<std::string> why_grid_unsupported(const Params& params, const ProblemShape& shape) {
  const GridShape grid = grid_of(params, shape);
  const std::int64_t blocks = std::int64_t{grid.users} * grid.items;
  if (blocks <= kMaxBlocks) return why_no_simd(params);
  return fmt::format(
      "a grid of {} stripes of users and {} of items has {} blocks; expected at most {}: lower "
      "grid_items or threads",
      grid.users, grid.items, blocks, kMaxBlocks);
}

AlgorithmInfo shared_info(const std::string& name, std::vector<ParamSpec> own,
                          std::vector<std::string> phases = {"order", "sgd"}) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "sgd_cpu";
  info.title = "SGD on the CPU";
  info.phases = std::move(phases);
  info.params = join_params({factors_param(100, 16384), model_param(ModelKind::biased)},
                            regularizer_params(0.05));
  info.params.push_back(simd_param());
  info.params = join_params(std::move(info.params), std::move(own));
  info.supports = [](const Params& params, const ProblemShape&) { return why_no_simd(params); };
  info.memory = [](const Params&) { return MemoryUse{.host = {.rating = 12, .number = 8}}; };
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
      {threads_param(), ParamSpec::constant("grid_users", std::int64_t{0}),
       ParamSpec::integer("grid_items", 0, 0, 65536,
                          "stripes of items; 0: from threads and cache size", "stripes"),
       ParamSpec::choice("block_order", BlockOrder::random, kBlockOrders,
                         "next block of a thread: a random free one, one of its user stripe if it "
                         "can, or the first free one"),
       ranks_param()},
      {"grid", "copy factors", "wait_ranks", "exchange"});
  info.summary = "SGD over a grid of blocks; threads work on blocks that share no row or column";
  info.paper =
      "W.-S. Chin, Y. Zhuang, Y.-C. Juan, C.-J. Lin, \"A Fast Parallel Stochastic Gradient Method "
      "for Matrix Factorization in Shared Memory Systems\", ACM TIST 6(1), 2015";
  info.supports = why_grid_unsupported;
  info.memory = [](const Params&) { return MemoryUse{.host = {.rating = 9, .number = 12}}; };
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
