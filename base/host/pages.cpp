#include "base/host/pages.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace mf {

void give_back_pages(void* begin, std::size_t bytes) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + bytes) / page * page;
  // Advice: where the system does not take it, the memory is freed later with the rest.
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

void give_back_freed() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void give_back_pages(void* begin, std::size_t bytes, ThreadTeam& team) {
  constexpr std::int64_t kPiece = std::int64_t{16} << 20;
  if (bytes < static_cast<std::size_t>(4 * kPiece)) return;  // soon done
  team.for_chunks(
      static_cast<std::int64_t>(bytes), kPiece, [&](std::int64_t from, std::int64_t to) {
        give_back_pages(static_cast<char*>(begin) + from, static_cast<std::size_t>(to - from));
      });
}

}  // namespace mf
