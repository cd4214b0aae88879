// sgd_atomic, ebltg and ebgtg: names, parameters, limits, memory, work and paper.
#include <fmt/core.h>

#include <algorithm>

#include "algorithms/core/registry.hpp"
#include "algorithms/cu2rec/settings.hpp"

namespace mf::cu2rec {
namespace {

std::vector<ParamSpec> family_params(ItemRule rule) {
  const bool atomic = rule == ItemRule::atomic;
  std::vector<ParamSpec> params = join_params(
      join_params({factors_param(50, 16384),
                   only_model_param(ModelKind::biased, "mu + b_u + c_i + p.q, the paper's only")},
                  regularizer_params()),
      {ParamSpec::integer("stride", 0, 0, std::int64_t{1} << 31,
                          "thread t handles user (t + stride * iteration) mod m; 0: always user t",
                          "users"),
       ParamSpec::choice(
           "buffering", atomic ? Buffering::in_place : Buffering::swap, kBufferings,
           "items: read one copy, write the other, swap them each iteration; or one copy"),
       ParamSpec::choice(
           "mapping", Mapping::thread, kMappings,
           "thread: one a user, factors one after another (the paper); warp: lanes over factors"),
       ParamSpec::choice("rng", Generator::curand, kGenerators,
                         "a cuRAND state a user, or Philox of (seed, user, iteration)"),
       ParamSpec::integer("threads_per_block", 0, 0, 1024,
                          "a multiple of 32; 0: 32 for thread (the paper), 128 for warp",
                          "threads"),
       ParamSpec::constant("users_per_warp", std::int64_t{0}),
       ParamSpec::boolean(
           "graph", true,
           "replay iterations between evaluations as a CUDA graph, not launch by launch")});
  if (atomic) {
    params.push_back(ParamSpec::choice(
        "atomics", Atomics::vector, kAtomics,
        "additions to an item by four factors at once, from compute capability 9.0 on, or one by "
        "one (the paper)"));
  }
  return params;
}

std::optional<std::string> why_unsupported(const Params& params, const ProblemShape&) {
  const std::int64_t threads = params.integer("threads_per_block");
  const std::int64_t factors = params.integer("factors");
  if (threads % 32 != 0) {
    return fmt::format("threads_per_block is {}, expected a multiple of 32 (a warp), or 0",
                       threads);
  }
  if (params.choice("mapping", kMappings) == Mapping::thread) return std::nullopt;
  if (threads > kMaxWarpThreads) {
    return fmt::format("mapping warp: at most {} threads_per_block, found {}", kMaxWarpThreads,
                       threads);
  }
  if (factors > kMaxWarpFactors) {
    return fmt::format("mapping warp holds a row in registers: at most {} factors, found {}",
                       kMaxWarpFactors, factors);
  }
  return std::nullopt;
}

AlgorithmInfo family_info(ItemRule rule, const std::string& summary) {
  AlgorithmInfo info;
  info.name = kItemRules.of(rule);
  info.family = "cu2rec";
  info.summary = summary;
  info.paper =
      "N. Greenquist, D. Kilitcioglu, \"GPU Accelerated Matrix Factorization for Recommender "
      "Systems\" (cu2rec)";
  info.hardware = Hardware::cuda;
  info.starts_by_rule = true;
  info.params = family_params(rule);
  info.supports = why_unsupported;
  info.memory = [rule](const Params& params) {
    const Settings settings = read_settings(rule, params);
    return MemoryUse{
        .device = {.rating = 8,
                   .number = settings.buffering == Buffering::swap ? 4.5 : 4.0,  // items twice
                   .row = settings.generator == Generator::curand ? kStateBytes + 8.0 : 8.0}};
  };
  info.updates_per_epoch = [](const ProblemShape& shape) {
    return static_cast<double>(shape.n_users);
  };
  return info;
}

const RegisterInfo kAtomic(
    family_info(ItemRule::atomic,
                "SGD, a random rating a user and iteration; item gradients added by atomicAdd"));
const RegisterInfo kLastWriter(family_info(
    ItemRule::last_writer, "early bird loses the gradient: the last user to write an item wins"));
const RegisterInfo kFirstWriter(
    family_info(ItemRule::first_writer,
                "early bird gets the gradient: the first user to claim an item writes"));

}  // namespace

Settings read_settings(ItemRule rule, const Params& params) {
  const Mapping mapping = params.choice("mapping", kMappings);
  const auto threads = static_cast<int>(params.integer("threads_per_block"));
  const bool atomic = rule == ItemRule::atomic;
  const Atomics atomics = atomic ? params.choice("atomics", kAtomics) : Atomics::vector;
  return {.rule = rule,
          .factors = static_cast<std::int32_t>(params.integer("factors")),
          .reg = read_regularizers(params),
          .stride = params.integer("stride"),
          .buffering = params.choice("buffering", kBufferings),
          .mapping = mapping,
          .generator = params.choice("rng", kGenerators),
          .threads_per_block = threads > 0                  ? threads
                               : mapping == Mapping::thread ? 32
                                                            : 128,
          .users_per_warp = static_cast<int>(params.integer("users_per_warp")),
          .graph = params.boolean("graph"),
          .atomics = atomics};
}

Work iteration_work(const Settings& settings, std::int64_t rating_users, std::int64_t rated_items) {
  const auto users = static_cast<double>(rating_users);
  const double items = std::min(users, static_cast<double>(rated_items));
  const double row = (settings.factors + 1.0) * sizeof(float);
  Work work;
  work.updates = users;
  work.bytes = 2 * row * (users + items) + users * (sizeof(RowRating) + sizeof(std::int64_t));
  work.flops = users * (10.0 * settings.factors + 13.0);
  return work;
}

}  // namespace mf::cu2rec
