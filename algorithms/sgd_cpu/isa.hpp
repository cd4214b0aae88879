// The choice of the instruction set, at run time.
#pragma once

#include <optional>
#include <string>

#include "algorithms/sgd_cpu/kernel.hpp"

namespace mf::sgd_cpu {

enum class Isa { scalar, avx2, avx512 };

bool has(Isa isa);  // this CPU (and its operating system) can run it
std::string to_string(Isa isa);

// "auto" is the best this CPU has. Nothing where the CPU lacks what was asked for.
std::optional<Isa> find_isa(const std::string& simd);

// As find_isa, but throws Error(unsupported).
Isa choose_isa(const std::string& simd);

Kernels kernels(Isa isa, std::int32_t factors, bool biased);

}  // namespace mf::sgd_cpu
