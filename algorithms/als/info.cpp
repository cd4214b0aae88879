// The ALS algorithms: names, parameters, limits and papers.
#include "algorithms/als/cpu/settings.hpp"
#include "algorithms/als/cumf/settings.hpp"
#include "algorithms/als/fused/settings.hpp"
#include "algorithms/core/registry.hpp"

namespace mf::als {
namespace {

double two_visits(const ProblemShape& shape) { return 2 * static_cast<double>(shape.nnz); }

AlgorithmInfo shared_info(const std::string& name) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "als";
  info.method = Method::als;
  info.deterministic = true;
  info.uses_learning_rate = false;
  info.updates_per_epoch = two_visits;
  return info;
}

AlgorithmInfo cpu_info() {
  AlgorithmInfo info = shared_info("als_cpu");
  info.summary =
      "ALS with weighted lambda on the CPU: all rows of X, then of Theta, solved in turn";
  info.paper =
      "Y. Zhou, D. Wilkinson, R. Schreiber, R. Pan, \"Large-Scale Parallel Collaborative "
      "Filtering for the Netflix Prize\", AAIM 2008; solver cg: W. Tan et al., \"Matrix "
      "Factorization on GPUs with Memory Optimization and Approximate Computing\", ICPP 2018";
  info.params = cpu_params();
  info.supports = [](const Params& params, const ProblemShape&) { return why_singular(params); };
  info.memory = cpu_memory_need;
  return info;
}

AlgorithmInfo als_info() {
  AlgorithmInfo info = shared_info("als");
  info.summary = "ALS on a GPU: A_u in register tiles, then batched LU, Cholesky or approximate CG";
  info.paper =
      "W. Tan et al., \"Matrix Factorization on GPUs with Memory Optimization and Approximate "
      "Computing\" (cuMF_ALS)";
  info.hardware = Hardware::cuda;
  info.starts_by_rule = true;
  info.params = als_params();
  info.supports = als_why_unsupported;
  info.memory = als_memory_need;
  return info;
}

AlgorithmInfo fused_info() {
  AlgorithmInfo info = shared_info("als_fused");
  info.summary = "ALS in one kernel: A_u formed on tensor cores and CG on it, never in memory";
  info.paper = "mfbench";
  info.hardware = Hardware::cuda;
  info.starts_by_rule = true;
  info.min_compute = 80;  // cp.async, mma.m16n8k16, redux
  info.params = fused_params();
  info.supports = fused_why_unsupported;
  info.memory = fused_memory_need;
  return info;
}

const RegisterInfo kCpu(cpu_info());
const RegisterInfo kAls(als_info());
const RegisterInfo kFused(fused_info());

}  // namespace
}  // namespace mf::als
