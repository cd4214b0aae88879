#include "base/host/pages.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/host/huge_pages.hpp"

namespace mf {

void give_back_pages(void* begin, std::size_t bytes) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + bytes) / page * page;
  // Only advice: if the system ignores it, the memory is freed later with the rest.
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

UsedColumn::UsedColumn(std::uintptr_t begin, std::size_t element, std::size_t bytes)
    : begin_(begin),
      element_(element),
      end_(begin + bytes),
      left_(bytes > 0 ? page_of(end_ - 1) + 1 : 0) {
  for (std::size_t page = 0; page < left_.size(); ++page)
    left_[page] = static_cast<std::int64_t>(page_end(page) - page_begin(page));
}

void UsedColumn::used(std::int64_t first, std::int64_t last) {
  std::uintptr_t from = begin_ + static_cast<std::size_t>(first) * element_;
  const std::uintptr_t to = begin_ + static_cast<std::size_t>(last) * element_;
  while (from < to) {
    const std::size_t page = page_of(from);
    const std::uintptr_t stop = std::min(page_end(page), to);
    const auto bytes = static_cast<std::int64_t>(stop - from);
    if (left_[page].fetch_sub(bytes) == bytes) {
      give_back_pages(reinterpret_cast<void*>(page_begin(page)), page_end(page) - page_begin(page));
    }
    from = stop;
  }
}

std::size_t UsedColumn::page_of(std::uintptr_t address) const {
  return address / kHugePage - begin_ / kHugePage;
}

std::uintptr_t UsedColumn::page_begin(std::size_t page) const {
  return std::max(begin_, (begin_ / kHugePage + page) * kHugePage);
}

std::uintptr_t UsedColumn::page_end(std::size_t page) const {
  return std::min(end_, (begin_ / kHugePage + page + 1) * kHugePage);
}

}  // namespace mf
