// minibatch_sgd: name, parameters, memory.
#include "algorithms/core/device_need.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/rows.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf {
namespace {

// Both sides twice (rows, and the sums of a batch), and the ratings.
MemoryNeed memory(const Params& params, const ProblemShape& shape) {
  const double row = 4.0 * static_cast<double>(row_stride(params.integer("factors"), 4));
  const auto rows = static_cast<double>(shape.n_users) + static_cast<double>(shape.n_items);
  const double all = 2 * row * rows + sizeof(Rating) * static_cast<double>(shape.nnz);
  return {pinned_bytes(shape), {all, all}};
}

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
  info.memory = memory;
  return info;
}

const RegisterInfo registered(minibatch_info());

}  // namespace
}  // namespace mf
