#include "algorithms/cu2rec/settings.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace mf::cu2rec {
namespace {

constexpr double kStateBytes = 48;  // a cuRAND XORWOW state
constexpr double kEntryBytes = 8;   // item and value
constexpr double kStagingBytes = 32e6;

int block_size(std::int64_t asked, Mapping mapping) {
  if (asked > 0) return static_cast<int>(asked);
  return mapping == Mapping::thread ? 32 : 128;
}

}  // namespace

std::vector<ParamSpec> family_params(Buffering default_buffering) {
  std::vector<ParamSpec> params = {
      ParamSpec::integer("factors", 50, 1, 16384, "length f of the rows of P and Q"),
      ParamSpec::choice("model", "biased", {"biased"}, "mu + b_u + c_i + p.q, the paper's only")};
  for (auto& regularizer : regularizer_params()) params.push_back(std::move(regularizer));
  params.push_back(ParamSpec::integer(
      "stride", 0, 0, std::int64_t{1} << 31,
      "thread t handles user (t + stride * iteration) mod m; 0: always user t", "users"));
  params.push_back(ParamSpec::choice(
      "buffering", default_buffering == Buffering::swap ? "swap" : "in_place", {"swap", "in_place"},
      "items: read one copy, write the other, swap them each iteration; or one copy"));
  params.push_back(ParamSpec::choice(
      "mapping", "thread", {"thread", "warp"},
      "thread: one a user, factors one after another (the paper); warp: lanes over factors"));
  params.push_back(
      ParamSpec::choice("rng", "curand", {"curand", "counter"},
                        "a cuRAND state a user, or Philox of (seed, user, iteration)"));
  params.push_back(ParamSpec::integer(
      "threads_per_block", 0, 0, 1024,
      "a multiple of 32; 0: 32 for thread (the paper), 128 for warp", "threads"));
  params.push_back(ParamSpec::integer("users_per_warp", 0, 0, 32,
                                      "mapping warp: users it handles one after another; 0: by m",
                                      "users"));
  params.push_back(ParamSpec::boolean(
      "graph", true,
      "replay iterations between evaluations as a CUDA graph, not launch by launch"));
  return params;
}

Settings read_settings(const Params& params) {
  Settings settings;
  settings.factors = static_cast<std::int32_t>(params.integer("factors"));
  settings.reg = read_regularizers(params);
  settings.stride = params.integer("stride");
  settings.buffering = params.choice("buffering") == "swap" ? Buffering::swap : Buffering::in_place;
  settings.mapping = params.choice("mapping") == "thread" ? Mapping::thread : Mapping::warp;
  settings.generator = params.choice("rng") == "curand" ? Generator::curand : Generator::counter;
  settings.threads_per_block = block_size(params.integer("threads_per_block"), settings.mapping);
  settings.users_per_warp = static_cast<int>(params.integer("users_per_warp"));
  settings.graph = params.boolean("graph");
  return settings;
}

std::optional<std::string> why_unsupported(const Params& params, const ProblemShape&) {
  if (params.integer("threads_per_block") % 32 != 0) {
    return fmt::format("threads_per_block is {}, expected a multiple of 32 (a warp), or 0",
                       params.integer("threads_per_block"));
  }
  if (params.choice("mapping") == "warp" && params.integer("threads_per_block") > kMaxWarpThreads) {
    return fmt::format("mapping warp: at most {} threads_per_block, found {}", kMaxWarpThreads,
                       params.integer("threads_per_block"));
  }
  if (params.choice("mapping") == "warp" && params.integer("factors") > kMaxWarpFactors) {
    return fmt::format("mapping warp holds a row in registers: at most {} factors, found {}",
                       kMaxWarpFactors, params.integer("factors"));
  }
  return std::nullopt;
}

MemoryNeed memory_need(const Params& params, const ProblemShape& shape) {
  const Settings settings = read_settings(params);
  const auto m = static_cast<double>(shape.n_users);
  const auto n = static_cast<double>(shape.n_items);
  const double row = static_cast<double>(row_stride(settings.factors) + 1) * sizeof(float);
  const double item_copies = settings.buffering == Buffering::swap ? 2 : 1;
  const double states = settings.generator == Generator::curand ? kStateBytes * m : 0;
  const double device = row * (m + item_copies * n) + kEntryBytes * static_cast<double>(shape.nnz) +
                        8 * (m + 1) + 4 * n + states;
  return {kStagingBytes, device};
}

Work iteration_work(const Settings& settings, const Ratings& train) {
  const auto users = static_cast<double>(count_rating_users(train));
  const double items = std::min(users, static_cast<double>(count_rated_items(train)));
  const double row = (settings.factors + 1.0) * sizeof(float);
  Work work;
  work.updates = users;
  work.bytes = 2 * row * (users + items) + users * (kEntryBytes + sizeof(std::int64_t));
  work.flops = users * (10.0 * settings.factors + 13.0);
  return work;
}

}  // namespace mf::cu2rec
