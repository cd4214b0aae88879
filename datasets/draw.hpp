// Internal: a uniform draw, exact in size and the same for any number of threads. Every rating (or
// user) has a 64-bit key of (seed, purpose, index), and the smallest keys are drawn. No array of
// keys is kept: they are cheaper to compute again than to load.
#pragma once

#include <cstdint>

#include "base/aligned.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/dataset.hpp"

namespace mf {

using Labels = AlignedVector<std::uint8_t>;

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

// What draw_fraction finds in the labels.
enum class LabelsAre {
  unwritten,  // to be taken for kTrain throughout; they are written
  written,
};

// Labels round(fraction * n) of the n entries labelled kTrain `part`, which none may be labelled
// yet. `width`, for tests: the first guess at the largest key, in standard deviations each way.
void draw_fraction(Labels& labels, LabelsAre before, double fraction, std::uint8_t part,
                   const Keys& keys, ThreadTeam& team, double width = 8);

std::int64_t count_label(const Labels& labels, std::uint8_t label, ThreadTeam& team);

void fill_labels(Labels& labels, std::uint8_t label, ThreadTeam& team);

}  // namespace mf
