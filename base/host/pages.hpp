// Pages of memory, as the system hands them out.
#pragma once

#include <cstddef>

#include "base/threads.hpp"

namespace mf {

// Gives the whole pages within [begin, begin + bytes) back to the system. What they held is lost;
// the addresses stay valid: they read as zeros, or as the file that they are mapped from.
void give_back_pages(void* begin, std::size_t bytes);

// The same by all threads of a team, for memory that is freed next: one thread gives back a few GB
// a second.
void give_back_pages(void* begin, std::size_t bytes, ThreadTeam& team);

// What the allocator keeps of freed memory goes back to the system, where it can: some ten MiB a
// large array that lay in its heap.
void give_back_freed();

}  // namespace mf
