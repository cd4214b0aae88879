#include "algorithms/ccd/cpu/settings.hpp"

#include <fmt/core.h>

#include "algorithms/ccd/layout.hpp"
#include "algorithms/ccd/settings.hpp"
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

}  // namespace mf::ccd
