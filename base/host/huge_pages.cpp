#include "base/host/huge_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace mf {
namespace {

std::align_val_t alignment_of(std::size_t bytes, std::size_t alignment) {
  return std::align_val_t{bytes < kLargeArray ? alignment : std::max(alignment, kHugePage)};
}

}  // namespace

void* allocate_array(std::size_t bytes, std::size_t alignment) {
  void* const array = ::operator new(bytes, alignment_of(bytes, alignment));
  // Only advice: a system without huge pages ignores it. Whole pages only: the bytes behind the
  // array are not ours.
  if (bytes >= kLargeArray) madvise(array, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return array;
}

void free_array(void* array, std::size_t bytes, std::size_t alignment) {
  ::operator delete(array, alignment_of(bytes, alignment));
}

}  // namespace mf
