// Memory for large arrays, on huge pages if the system has them: a first touch costs a fault of
// about a microsecond, for a page of 4 KiB (more than filling it takes) as for one of 2 MiB.
#pragma once

#include <cstddef>

namespace mf {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;
// From this size on; below it the last page, which is seldom full, would be too large a part.
inline constexpr std::size_t kLargeArray = 2 * kHugePage;

// Uninitialised; throws std::bad_alloc. `alignment` is for small arrays, a power of two up to
// kHugePage.
void* allocate_array(std::size_t bytes, std::size_t alignment);
// With the size and the alignment that it was allocated with.
void free_array(void* array, std::size_t bytes, std::size_t alignment);

}  // namespace mf
