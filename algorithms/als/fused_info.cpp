// als_fused: name, parameters, limits.
#include "algorithms/als/fused_settings.hpp"
#include "algorithms/core/registry.hpp"

namespace mf::als {
namespace {

AlgorithmInfo fused_info() {
  AlgorithmInfo info;
  info.name = "als_fused";
  info.family = "als";
  info.summary = "ALS in one kernel: A_u formed on tensor cores and CG on it, never in memory";
  info.paper = "mfbench";
  info.hardware = Hardware::cuda;
  info.deterministic = true;
  info.uses_learning_rate = false;
  info.params = fused_params();
  info.memory = fused_memory_need;
  info.updates_per_epoch = [](const ProblemShape& shape) {
    return 2 * static_cast<double>(shape.nnz);
  };
  return info;
}

const RegisterInfo kFused(fused_info());

}  // namespace
}  // namespace mf::als
