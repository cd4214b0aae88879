// The algorithms for implicit feedback: each is described by its room.
#include "algorithms/core/registry.hpp"
#include "algorithms/core/threads_param.hpp"
#include "algorithms/ials/blocks/settings.hpp"
#include "algorithms/ials/fused/settings.hpp"
#include "algorithms/ials/post/settings.hpp"

namespace mf::ials {
namespace {

AlgorithmInfo cpu_info() {
  AlgorithmInfo info = shared_info("ials_cpu");
  info.summary =
      "implicit ALS on the CPU: rows by CG on the observed pairs and a shared Gram matrix";
  info.paper =
      "Y. Hu, Y. Koren, C. Volinsky, \"Collaborative Filtering for Implicit Feedback Datasets\", "
      "ICDM 2008; solver cg: G. Takacs, I. Pilaszy, D. Tikk, \"Applications of the Conjugate "
      "Gradient Method for Implicit Feedback Collaborative Filtering\", RecSys 2011";
  info.params =
      join_params(common_params(), {reg_exponent_param(), popularity_exponent_param(),
                                    solver_param(Solver::cg), cg_steps_param(), threads_param()});
  info.memory = [](const Params&) { return MemoryUse{.host = {.rating = 12, .number = 8}}; };
  return info;
}

const RegisterInfo kCpu(cpu_info());
const RegisterInfo kPpCpu(pp_cpu_info());
const RegisterInfo kIals(ials_info());
const RegisterInfo kPp(ials_pp_info());
const RegisterInfo kFused(fused_info());

}  // namespace
}  // namespace mf::ials
