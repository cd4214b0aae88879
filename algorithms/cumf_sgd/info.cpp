// batch_hogwild and wavefront: names, parameters, limits and paper.
#include "algorithms/core/registry.hpp"
#include "algorithms/cumf_sgd/settings.hpp"

namespace mf::cumf_sgd {
namespace {

AlgorithmInfo shared_info(const std::string& name) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "cumf_sgd";
  info.paper =
      "X. Xie, W. Tan, L. L. Fong, Y. Liang, \"CuMF_SGD: Parallelized Stochastic Gradient Descent "
      "for Matrix Factorization on GPUs\", HPDC 2017";
  info.hardware = Hardware::cuda;
  info.params = shared_params();
  info.memory = memory_need;
  return info;
}

AlgorithmInfo hogwild_info() {
  AlgorithmInfo info = shared_info("batch_hogwild");
  info.summary = "lock-free SGD, each warp on runs of consecutive shuffled ratings";
  info.params.push_back(sampling_param());
  info.params.push_back(mapping_param());
  info.params.push_back(run_param());
  info.params.push_back(hogwild_workers_param());
  return info;
}

AlgorithmInfo wavefront_info() {
  AlgorithmInfo info = shared_info("wavefront");
  info.summary = "SGD by warps that own a band of users and take column blocks in random order";
  info.params.push_back(workers_param());
  info.params.push_back(column_blocks_param());
  info.supports = why_grid_unsupported;
  return info;
}

const RegisterInfo kHogwild(hogwild_info());
const RegisterInfo kWavefront(wavefront_info());

}  // namespace
}  // namespace mf::cumf_sgd
