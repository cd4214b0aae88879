// Pages of memory, as the system hands them out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/threads.hpp"
#include "base/view.hpp"

namespace mf {

// Gives the whole pages within [begin, begin + bytes) back to the system. Their contents are lost;
// the addresses stay valid: they read as zeros, or as the file that they are mapped from.
void give_back_pages(void* begin, std::size_t bytes);

// The same by all threads of a team, for memory that is freed next: one thread gives back a few GB
// a second.
void give_back_pages(void* begin, std::size_t bytes, ThreadTeam& team);

// Memory of a column that is not needed any more, as soon as all of a huge page is not: a part of
// one that went back would leave the rest in small pages, and stay taken itself.
class UsedColumn {
 public:
  template <class T>
  explicit UsedColumn(View<const T> column)
      : UsedColumn(reinterpret_cast<std::uintptr_t>(column.data()), sizeof(T),
                   column.size_bytes()) {}

  // The elements [first, last) are not needed any more; each is said once, by any thread.
  void used(std::int64_t first, std::int64_t last);

 private:
  UsedColumn(std::uintptr_t begin, std::size_t element, std::size_t bytes);
  std::size_t page_of(std::uintptr_t address) const;
  std::uintptr_t page_begin(std::size_t page) const;
  std::uintptr_t page_end(std::size_t page) const;

  std::uintptr_t begin_;
  std::size_t element_;
  std::uintptr_t end_;
  std::vector<std::atomic<std::int64_t>> left_;  // bytes of each page that are needed yet
};

// Returns freed memory that the allocator still keeps to the system, if it can: some ten MiB for
// each large array that lay in its heap.
void give_back_freed();

}  // namespace mf
