// minibatch_sgd: name, parameters, memory.
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf {
namespace {

AlgorithmInfo minibatch_info() {
  AlgorithmInfo info;
  info.name = "minibatch_sgd";
  info.family = "minibatch_sgd";
  info.title = "Mini-batch SGD";
  info.summary = "SGD by batches of random ratings whose gradients are summed, then applied";
  info.paper = "the usual mini-batch SGD";
  info.hardware = Hardware::cuda;
  info.params =
      join_params({factors_param(32, 1024), only_model_param(ModelKind::plain, "p.q"),
                   ParamSpec::integer("batch", 256, 1, 1 << 20, "ratings of a batch", "ratings")},
                  regularizer_params(0.02, false));
  // The ratings, and both sides twice: rows, and the sums of a batch.
  info.memory = [](const Params&) { return MemoryUse{.device = {.rating = 12, .number = 8}}; };
  return info;
}

const RegisterInfo registered(minibatch_info());

}  // namespace
}  // namespace mf
