// What `mfbench` must know of als_cpu before it runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/core/algorithm.hpp"

namespace mf::als {

std::vector<ParamSpec> cpu_params();
MemoryNeed cpu_memory_need(const Params& params, const ProblemShape& shape);

// An exact solver without a regularizer: A_u of a row with fewer ratings than factors is singular.
std::optional<std::string> why_cpu_unsupported(const Params& params, const ProblemShape& shape);

}  // namespace mf::als
