#include "algorithms/ials/cpu/settings.hpp"

#include <algorithm>

#include "algorithms/als/cpu/half_step.hpp"
#include "algorithms/core/threads_param.hpp"
#include "algorithms/ials/gram.hpp"
#include "algorithms/ials/settings.hpp"

namespace mf::ials {
namespace {

// The columns of R, weights where alpha is not 1, both factors, l and the orders of the rows, the
// Gram matrix and its parts; A and its parts (Cholesky) or the vectors of the rows (CG).
MemoryNeed cpu_memory(const Params& params, const ProblemShape& shape) {
  const Common common = read_common(params);
  const std::int64_t threads = threads_of(params);
  const std::int64_t row = als::cpu::padded_stride(common.factors);
  const auto stride = static_cast<double>(row);
  const double rows = shape.rows();
  const auto nnz = static_cast<double>(shape.nnz);
  double bytes = nnz * (common.loss.alpha == 1 ? 8 : 12) + rows * (stride * 4 + 24) +
                 Gram::bytes(std::max(shape.n_users, shape.n_items), row);
  if (read_solver(params) == Solver::cholesky) {
    bytes += als::cpu::most_systems(shape.nnz, threads) * stride * stride * 4;
  } else {
    // Four a row of a group: of 16 rows, or of a thousand short ones, if a side has as many.
    const std::int64_t most =
        std::clamp<std::int64_t>(std::max(shape.n_users, shape.n_items), 16, 1024);
    bytes += static_cast<double>(threads * 4 * most) * stride * 4;
  }
  return {std::max(bytes, nnz * 12), {}};  // the columns are made of entries of 8 or 12 bytes
}

}  // namespace

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
  info.memory = cpu_memory;
  return info;
}

}  // namespace mf::ials
