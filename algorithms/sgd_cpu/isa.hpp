// The inner loops of an instruction set.
#pragma once

#include "algorithms/sgd_cpu/kernel.hpp"
#include "base/isa.hpp"

namespace mf::sgd_cpu {

Kernels kernels(Isa isa, std::int32_t factors, bool biased);

}  // namespace mf::sgd_cpu
