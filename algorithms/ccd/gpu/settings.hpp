// Limits and memory of ccd++.
#pragma once

#include <optional>
#include <string>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/params.hpp"

namespace mf::ccd {

std::optional<std::string> device_why_unsupported(const Params& params, const ProblemShape& shape);

}  // namespace mf::ccd
