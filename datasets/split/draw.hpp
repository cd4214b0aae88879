// Internal: a uniform draw, exact in size and the same for any number of threads and ranks. Every
// rating (or user) has a 64-bit key of (seed, purpose, index), and the smallest keys are drawn.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ranks/communicator.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/select_parts.hpp"

namespace mf {

enum class Purpose : std::uint64_t { test = 0x73706c69, validation, test_users, validation_users };

// SplitMix64 read at a position. A bijection of the index: no two ratings share a key.
class Keys {
 public:
  Keys(std::uint64_t seed, Purpose purpose)
      : base_(Rng(seed, static_cast<std::uint64_t>(purpose))()) {}
  std::uint64_t operator()(std::int64_t i) const {
    return mix64(base_ + static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL);
  }

 private:
  std::uint64_t base_;
};

// The largest key of those drawn: round(fraction * n) of the n entries [first, end) labelled
// kTrain. Nothing: none is. Over ranks, each has entries of its own, and n is of all.
std::optional<std::uint64_t> draw_fraction(const LabelsOf& labels, std::int64_t first,
                                           std::int64_t end, double fraction, const Keys& keys,
                                           ThreadTeam& team, Communicator& ranks);

// Labels as they are after the draw, `part` for those drawn: cheaper to compute anew each time than
// to write a byte a rating and to load it again.
LabelsOf drawn_labels(LabelsOf before, std::optional<std::uint64_t> last, const Keys& keys,
                      std::uint8_t part);

}  // namespace mf
