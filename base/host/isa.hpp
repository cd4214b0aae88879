// The choice of the instruction set of vector loops, at run time.
#pragma once

#include <optional>
#include <string>

namespace mf {

enum class Isa { scalar, avx2, avx512 };

// Whether the build has the sources *.avx2.cpp and *.avx512.cpp: on other processors scalar is all.
#if defined(__x86_64__)
inline constexpr bool kAvxIsCompiled = true;
#else
inline constexpr bool kAvxIsCompiled = false;
#endif

bool has(Isa isa);  // this CPU (and its operating system) can run it
std::string to_string(Isa isa);

// "auto" is the best this CPU has. Empty if the CPU lacks the one asked for.
std::optional<Isa> find_isa(const std::string& simd);

// As find_isa, but throws Error(unsupported).
Isa choose_isa(const std::string& simd);

}  // namespace mf
