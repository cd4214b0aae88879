#include "algorithms/ials/cpu/settings.hpp"

#include "algorithms/core/threads_param.hpp"
#include "algorithms/ials/settings.hpp"

namespace mf::ials {

AlgorithmInfo cpu_info() {
  AlgorithmInfo info = shared_info("ials_cpu");
  info.summary =
      "implicit ALS on the CPU: rows by CG on the observed pairs and a shared Gram matrix";
  info.paper =
      "Y. Hu, Y. Koren, C. Volinsky, \"Collaborative Filtering for Implicit Feedback Datasets\", "
      "ICDM 2008; solver cg: G. Takacs, I. Pilaszy, D. Tikk, \"Applications of the Conjugate "
      "Gradient Method for Implicit Feedback Collaborative Filtering\", RecSys 2011";
  info.params = join_params(common_params(), {reg_exponent_param(), solver_param(Solver::cg),
                                              cg_steps_param(), threads_param()});
  info.memory = [](const Params&) { return MemoryUse{.host = {.rating = 12, .number = 8}}; };
  return info;
}

}  // namespace mf::ials
