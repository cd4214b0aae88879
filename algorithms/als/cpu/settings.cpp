#include "algorithms/als/cpu/settings.hpp"

#include "algorithms/als/settings.hpp"
#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/threads_param.hpp"

namespace mf::als {

std::vector<ParamSpec> cpu_params() {
  std::vector<ParamSpec> params = common_params();
  params.push_back(solver_param(Solver::cholesky));
  params.push_back(threads_param());
  params.push_back(ranks_param());
  return params;
}

}  // namespace mf::als
