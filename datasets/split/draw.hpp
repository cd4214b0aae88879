// Internal: a draw, exact in size and the same for any number of threads and ranks. Every rating
// (or user) has a 64-bit key, and the smallest keys are drawn. A uniform draw makes keys of (seed,
// purpose, index); a draw by time gives the latest ratings the smallest.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/ranks/communicator.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/rating_times.hpp"
#include "datasets/ratings/select_parts.hpp"

namespace mf {

enum class Purpose : std::uint64_t {
  test = 0x73706c69,
  validation,
  test_users,
  validation_users,
  folds
};

// SplitMix64 read at a position. A bijection of the index: no two ratings share a key.
class Keys {
 public:
  static constexpr bool kUniform = true;

  Keys(std::uint64_t seed, Purpose purpose)
      : base_(Rng(seed, static_cast<std::uint64_t>(purpose))()) {}
  std::uint64_t operator()(std::int64_t i) const { return key_at(base_, i); }
  // Fills the keys of [begin, begin + count).
  void fill(std::int64_t begin, std::int64_t count, std::uint64_t* to) const;

  static std::uint64_t key_at(std::uint64_t base, std::int64_t i) {
    return mix64(base + static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL);
  }

 private:
  std::uint64_t base_;
};

// The later a rating, the smaller its key.
class TimeKeys {
 public:
  static constexpr bool kUniform = false;

  // For `n` places in time, by the rating's index.
  explicit TimeKeys(View<const RatingTime> times, std::int64_t n)
      : times_(times), shift_(std::countl_zero(static_cast<std::uint64_t>(n) | 1)) {}
  // From the first bit on, by which a draw groups keys.
  std::uint64_t operator()(std::int64_t i) const {
    return ~(static_cast<std::uint64_t>(times_[i].place) << shift_);
  }
  void fill(std::int64_t begin, std::int64_t count, std::uint64_t* to) const {
    for (std::int64_t i = 0; i < count; ++i) to[i] = (*this)(begin + i);
  }

 private:
  View<const RatingTime> times_;
  int shift_;
};

// How many of `n` entries are drawn.
using DrawnOf = std::function<std::int64_t(std::int64_t n)>;
DrawnOf share_of(double fraction);  // round(fraction * n)

// The largest key of those drawn among the entries [first, end) labelled kTrain. Empty if none is.
// Each rank has its own entries, and n counts all ranks'.
template <class AnyKeys>
std::optional<std::uint64_t> draw(const LabelsOf& labels, std::int64_t first, std::int64_t end,
                                  const DrawnOf& drawn, const AnyKeys& keys, ThreadTeam& team,
                                  Communicator& ranks);

// Labels after the draw, `to` for drawn entries labelled `from`: cheaper to compute anew each time
// than to write a byte a rating and to load it again.
template <class AnyKeys>
LabelsOf drawn_labels(LabelsOf before, std::optional<std::uint64_t> last, const AnyKeys& keys,
                      std::uint8_t from, std::uint8_t to);

}  // namespace mf
