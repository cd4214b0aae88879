// sgd_tiled: name, parameters, limits.
#include <fmt/core.h>

#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/registry.hpp"
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
  info.phases = {"update", "exchange"};
  info.memory = [](const Params& params) {
    return MemoryUse{.device = {.preparing = 17,
                                .rating = 9,
                                .number = stored_number_bytes(read_storage(params)),
                                .row = 20}};
  };
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
