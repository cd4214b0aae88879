// als: name, parameters, limits and paper.
#include "algorithms/als/als_settings.hpp"
#include "algorithms/core/registry.hpp"

namespace mf::als {
namespace {

AlgorithmInfo als_info() {
  AlgorithmInfo info;
  info.name = "als";
  info.family = "als";
  info.summary = "ALS on a GPU: A_u in register tiles, then batched LU, Cholesky or approximate CG";
  info.paper =
      "W. Tan et al., \"Matrix Factorization on GPUs with Memory Optimization and Approximate "
      "Computing\" (cuMF_ALS)";
  info.hardware = Hardware::cuda;
  info.deterministic = true;
  info.uses_learning_rate = false;
  info.params = als_params();
  info.supports = als_why_unsupported;
  info.memory = als_memory_need;
  info.updates_per_epoch = [](const ProblemShape& shape) {
    return 2 * static_cast<double>(shape.nnz);
  };
  return info;
}

const RegisterInfo kAls(als_info());

}  // namespace
}  // namespace mf::als
