// Memory for large arrays, on huge pages where the system has them: the first touch of 4 KiB costs
// a fault of about a microsecond, which is more than filling it takes, and the same of 2 MiB.
#pragma once

#include <cstddef>

namespace mf {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;
// From this size on; below it the last page, which is seldom full, would be too large a part.
inline constexpr std::size_t kLargeArray = 2 * kHugePage;

// Uninitialised; throws std::bad_alloc. `alignment` is that of small ones, a power of two up to
// kHugePage.
void* allocate_array(std::size_t bytes, std::size_t alignment);
// With the size and the alignment that it was allocated with.
void free_array(void* array, std::size_t bytes, std::size_t alignment);

}  // namespace mf
