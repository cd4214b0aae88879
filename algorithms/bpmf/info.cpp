// Bayesian matrix factorization: names, parameters, limits and paper.
#include <utility>
#include <vector>

#include "algorithms/bpmf/settings.hpp"
#include "algorithms/core/registry.hpp"

namespace mf::bpmf {
namespace {

AlgorithmInfo info_of(const char* name, const char* summary, std::vector<ParamSpec> params) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "bpmf";
  info.title = "Bayesian";
  info.summary = summary;
  info.paper =
      "R. Salakhutdinov, A. Mnih, \"Bayesian Probabilistic Matrix Factorization using Markov Chain "
      "Monte Carlo\", ICML 2008";
  info.method = Method::als;
  info.deterministic = true;
  info.uses_learning_rate = false;
  info.samples = true;
  info.phases = {"prior", "update_x", "update_theta"};
  info.params = std::move(params);
  return info;
}

AlgorithmInfo cpu_info() {
  AlgorithmInfo info =
      info_of("bpmf_cpu",
              "Bayesian MF by Gibbs sampling on the CPU: an epoch is a draw of all rows and priors",
              cpu_params());
  info.memory = [](const Params&) {
    return MemoryUse{.host = {.rating = 16, .number = 12, .row = 16}};
  };
  return info;
}

AlgorithmInfo device_info() {
  AlgorithmInfo info = info_of(
      "bpmf",
      "Bayesian MF by Gibbs sampling on a GPU: systems from tensor cores, drawn from by Cholesky",
      device_params());
  info.memory = [](const Params&) {
    return MemoryUse{
        .device = {.preparing = 32, .rating = 16, .number = 7, .row = 40, .fixed = 64e6}};
  };
  info.hardware = Hardware::cuda;
  info.starts_by_rule = true;
  info.min_compute = 80;  // as als_fused
  return info;
}

const RegisterInfo kCpu(cpu_info());
const RegisterInfo kDevice(device_info());

}  // namespace
}  // namespace mf::bpmf
