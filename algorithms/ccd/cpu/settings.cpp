#include "algorithms/ccd/cpu/settings.hpp"

#include <fmt/core.h>

#include "algorithms/ccd/cpu/side.hpp"
#include "algorithms/core/threads_param.hpp"
#include "base/host/isa.hpp"

namespace mf::ccd {

std::vector<ParamSpec> cpu_params() {
  return join_params(
      common_params(),
      {threads_param(),
       ParamSpec::choice("simd", "auto", {"auto", "scalar", "avx2", "avx512"},
                         "instruction set of the inner loop; auto: the best this CPU has")});
}

std::optional<std::string> cpu_why_unsupported(const Params& params, const ProblemShape& shape) {
  const std::string& simd = params.choice("simd");
  if (!find_isa(simd)) return "simd \"" + simd + "\": this CPU lacks it";
  if (shape.nnz <= kMostUnits) return std::nullopt;
  return fmt::format("{} ratings, at most {} can be numbered", shape.nnz, kMostUnits);
}

// Both orders of R (index and residual), tasks with their sums, where segments begin, the vectors
// of the factors and their packed copies; while preparing, the columns and a copy of P.
MemoryNeed cpu_memory_need(const Params& params, const ProblemShape& shape) {
  const auto side = [&](std::int64_t rows, std::int64_t others) {
    const std::int64_t tiles = tile_count(rows, others, shape.nnz, cpu::kLayoutRule.widest);
    const double index = (others + tiles - 1) / tiles < 65536 ? 2 : 4;
    const auto tasks = static_cast<double>(most_tasks(rows, others, shape.nnz, cpu::kLayoutRule));
    return static_cast<double>(shape.nnz) * (index + 4) + tasks * (sizeof(Task) + 8) +
           static_cast<double>(rows) * (8.0 * static_cast<double>(tiles) + 16 +
                                        8 * static_cast<double>(params.integer("factors")));
  };
  const double columns = 8 * static_cast<double>(shape.nnz + shape.n_items + 1);
  const double start = 4 * static_cast<double>(shape.n_users * params.integer("factors"));
  return {side(shape.n_users, shape.n_items) + side(shape.n_items, shape.n_users) + columns + start,
          {}};
}

}  // namespace mf::ccd
