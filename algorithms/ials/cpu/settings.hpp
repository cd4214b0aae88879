// Settings of ials_cpu, known before it runs.
#pragma once

#include "algorithms/core/algorithm.hpp"

namespace mf::ials {

AlgorithmInfo cpu_info();

}  // namespace mf::ials
