// Internal: the map from the ids of a file (int32, 0 .. 2^31 - 1, with gaps) to dense indices in
// ascending order. A bitmap with a running count per 64 ids: 12 bytes per 64 ids of the range, at
// most 384 MiB, and only memory of ids that occur is touched.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"

namespace mf {

class IdIndex {
 public:
  // For all `ids`. Throws Error(data) that gives `what` ("user") and `name` if one is negative.
  IdIndex(View<const std::int32_t> ids, ThreadTeam& team, const char* what,
          const std::string& name);

  std::int32_t size() const { return size_; }
  AlignedVector<std::int32_t> ids() const;  // dense index -> id, ascending

  // The dense index of an id that was among `ids`.
  std::int32_t operator()(std::int32_t id) const {
    const auto bit = static_cast<std::uint32_t>(id);
    const std::uint64_t below = words_[bit / 64] & ((std::uint64_t{1} << (bit % 64)) - 1);
    return before_[bit / 64] + bits_of(below);
  }

  // Calls body(index) with a function from ids to dense indices: the quickest there is.
  template <class Body>
  void with(const Body& body) const {
    if (is_range()) {
      body([least = min_](std::int32_t id) { return id - least; });
    } else {
      body([this](std::int32_t id) { return (*this)(id); });
    }
  }

  // Whether all ids from the least to the greatest occur: then an index is the id less this.
  bool is_range() const { return size_ > 0 && std::int64_t{max_} - min_ + 1 == size_; }
  std::int32_t least() const { return min_; }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  template <class T>
  using Zeroed = std::unique_ptr<T[], Free>;  // from calloc: pages appear when first written
  template <class T>
  static Zeroed<T> zeroed(std::int64_t count);
  void mark(View<const std::int32_t> ids);
  void count();

  // std::popcount is a function call if the target may lack the instruction.
  static std::int32_t bits_of(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555ULL;
    word = (word & 0x3333333333333333ULL) + (word >> 2 & 0x3333333333333333ULL);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
    return static_cast<std::int32_t>(word * 0x0101010101010101ULL >> 56);
  }

  std::int64_t n_words_ = 0;
  Zeroed<std::uint64_t> words_;  // bit id % 64 of word id / 64: the id occurs
  Zeroed<std::int32_t> before_;  // ids that occur before the word
  Zeroed<std::uint8_t> used_;    // of each page of words: any id occurs
  std::int32_t size_ = 0;
  std::int32_t min_ = 0, max_ = 0;
};

}  // namespace mf
