#include "algorithms/als/cpu/settings.hpp"

#include <algorithm>

#include "algorithms/als/cpu/half_step.hpp"

namespace mf::als {

std::vector<ParamSpec> cpu_params() {
  std::vector<ParamSpec> params = common_params();
  params.push_back(solver_param(Solver::cholesky));
  params.push_back(ParamSpec::integer("threads", 0, 0, 4096, "threads; 0: all hardware threads"));
  return params;
}

// The columns of R, both factors, the orders of the rows, A and its parts; residuals and biases
// where a center is removed. Before the factors are there, the columns are made, by way of 4 bytes
// a rating more.
MemoryNeed cpu_memory_need(const Params& params, const ProblemShape& shape) {
  const std::int64_t team =
      params.integer("threads") > 0 ? params.integer("threads") : std::int64_t{hardware_threads()};
  const auto stride = static_cast<double>(cpu::padded_stride(params.integer("factors")));
  const auto rows = static_cast<double>(shape.n_users + shape.n_items);
  const auto nnz = static_cast<double>(shape.nnz);
  const bool centered = read_common(params).center != CenterKind::none;
  const double squares =
      2 * static_cast<double>(team) + static_cast<double>(cpu::part_count(shape.nnz));
  double bytes = nnz * 8 + rows * (stride * 4 + 12) + squares * stride * stride * 4;
  if (centered) bytes += nnz * 4 + rows * 4;
  return {std::max(bytes, nnz * 12), 0};
}

}  // namespace mf::als
