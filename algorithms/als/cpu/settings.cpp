#include "algorithms/als/cpu/settings.hpp"

#include <algorithm>

#include "algorithms/als/cpu/half_step.hpp"
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

// The columns of R, both factors, the orders of the rows, A and its parts; residuals and biases
// where a center is removed. Before the factors are there, the columns are made, by way of 4 bytes
// a rating more. For several ranks each: its share of the rows and the columns, and the offsets of
// all.
MemoryNeed cpu_memory_need(const Params& params, const ProblemShape& shape) {
  const std::int64_t team = threads_of(params);
  const auto stride = static_cast<double>(cpu::padded_stride(params.integer("factors")));
  const double rows = shape.rows();
  const auto nnz = static_cast<double>(shape.nnz);
  const bool centered = read_common(params).center != CenterKind::none;
  const double squares = cpu::most_systems(shape.nnz, team);
  const auto ranks = static_cast<double>(ranks_of(params));
  double bytes = rows * (stride * 4 + 12) + squares * stride * stride * 4;
  bytes += ranks > 1 ? 16 * nnz / ranks + 8 * rows : 8 * nnz;
  if (centered) bytes += (ranks > 1 ? 0 : nnz * 4) + rows * 4;
  return {ranks > 1 ? bytes : std::max(bytes, nnz * 12), {}};
}

}  // namespace mf::als
