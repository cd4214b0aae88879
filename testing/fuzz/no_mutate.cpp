// Without libFuzzer nothing is mutated.
#include <cstdlib>

#include "testing/fuzz/mutate.hpp"

namespace mf::fuzz {

std::size_t mutate_bytes(std::uint8_t*, std::size_t, std::size_t) { std::abort(); }
std::size_t mutate_parts(std::uint8_t*, std::size_t, std::size_t, std::uint32_t, std::size_t) {
  std::abort();
}

}  // namespace mf::fuzz
