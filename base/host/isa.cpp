#include "base/host/isa.hpp"

#include "base/error.hpp"

namespace mf {

#if defined(__x86_64__)
bool has(Isa isa) {
  __builtin_cpu_init();
  switch (isa) {
    case Isa::scalar:
      return true;
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::avx512:
      return has(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512bw");
  }
  return false;
}
#else
bool has(Isa isa) { return isa == Isa::scalar; }
#endif

std::string to_string(Isa isa) {
  return isa == Isa::scalar ? "scalar" : isa == Isa::avx2 ? "avx2" : "avx512";
}

std::optional<Isa> find_isa(const std::string& simd) {
  for (const Isa isa : {Isa::avx512, Isa::avx2, Isa::scalar}) {
    if ((simd == "auto" || simd == to_string(isa)) && has(isa)) return isa;
  }
  return std::nullopt;
}

Isa choose_isa(const std::string& simd) {
  const auto isa = find_isa(simd);
  if (!isa) fail(ErrorKind::unsupported, "simd \"{}\": this CPU lacks it; use \"auto\"", simd);
  return *isa;
}

}  // namespace mf
