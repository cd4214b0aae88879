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

}  // namespace mf
