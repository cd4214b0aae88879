// Parameters, limits and memory of ccd++_cpu.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/params.hpp"

namespace mf::ccd {

std::vector<ParamSpec> cpu_params();
std::optional<std::string> cpu_why_unsupported(const Params& params, const ProblemShape& shape);

}  // namespace mf::ccd
