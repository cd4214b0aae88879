#include "algorithms/sgd_cpu/huge_array.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace mf::sgd_cpu {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLine = 64;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

void* allocate_huge(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kLine;
  const std::size_t size = round_up(bytes == 0 ? 1 : bytes, alignment);
  void* memory = std::aligned_alloc(alignment, size);
  if (memory == nullptr) throw std::bad_alloc();
  // Only advice: a system without huge pages ignores it.
  if (alignment == kHugePage) madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

void free_huge(void* memory) { std::free(memory); }

}  // namespace mf::sgd_cpu
