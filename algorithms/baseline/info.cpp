// The baselines: names, parameters and memory.
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf::baseline {
namespace {

AlgorithmInfo shared_info(const std::string& name, Method method) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "baseline";
  info.method = method;
  info.deterministic = true;
  info.uses_learning_rate = false;
  return info;
}

// The harness asks models of P and Q for it.
ParamSpec one_factor() { return ParamSpec::integer("factors", 1, 1, 1, "always 1"); }

ParamSpec threads_param() {
  return ParamSpec::integer("threads", 0, 0, 4096, "threads; 0: all hardware threads");
}

double rows_of(const ProblemShape& shape) {
  return static_cast<double>(shape.n_users) + static_cast<double>(shape.n_items);
}

AlgorithmInfo popular_info() {
  AlgorithmInfo info = shared_info("popular", Method::closed_form);
  info.summary = "implicit feedback: the items with the most users, the same for everybody";
  info.paper = "mfbench";
  info.starts_by_rule = true;
  info.params = {one_factor()};
  // One factor that all users share lowers this loss; what it weighs does not change the order.
  info.implicit = [](const Params&) { return ImplicitLoss{1, 0}; };
  info.memory = [](const Params&, const ProblemShape& shape) {
    return MemoryNeed{
        rows_of(shape) * sizeof(float) + static_cast<double>(shape.n_items) * sizeof(std::int64_t),
        {}};
  };
  return info;
}

// The ratings a second time, by item, and P, Q and both biases.
MemoryNeed bias_memory(const Params&, const ProblemShape& shape) {
  return {static_cast<double>(shape.nnz) * 8 + static_cast<double>(shape.n_items + 1) * 8 +
              rows_of(shape) * 2 * sizeof(float),
          {}};
}

AlgorithmInfo bias_info() {
  AlgorithmInfo info = shared_info("bias", Method::als);
  info.summary = "ratings: mean, bias of the user and bias of the item, solved in turn; no factors";
  info.paper =
      "Y. Koren, \"Factor in the Neighbors: Scalable and Accurate Collaborative Filtering\", TKDD "
      "4(1), 2010, section 2.1";
  info.starts_by_rule = true;
  info.params = {one_factor(), only_model_param(ModelKind::biased, "mu + b_u + c_i"),
                 ParamSpec::number("reg_user", 10, 0, 1e6, "shrinks b_u: ratings at zero"),
                 ParamSpec::number("reg_item", 25, 0, 1e6, "shrinks c_i: ratings at zero"),
                 threads_param()};
  info.updates_per_epoch = [](const ProblemShape& shape) {
    return 2 * static_cast<double>(shape.nnz);
  };
  info.memory = bias_memory;
  return info;
}

const RegisterInfo kPopular(popular_info());
const RegisterInfo kBias(bias_info());

}  // namespace
}  // namespace mf::baseline
