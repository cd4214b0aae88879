// Settings of als_cpu, known before it runs.
#pragma once

#include <vector>

#include "algorithms/core/algorithm.hpp"

namespace mf::als {

std::vector<ParamSpec> cpu_params();

}  // namespace mf::als
