// Internal: a uniform draw, exact in size and the same for any number of threads. Every rating (or
// user) has a 64-bit key of (seed, purpose, index), and the smallest keys are drawn. Neither keys
// nor what was drawn is kept, but the largest key drawn: the rest is cheaper to compute again than
// to load.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/aligned.hpp"
#include "base/ranks/communicator.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/dataset.hpp"
#include "datasets/ratings/ids/label_source.hpp"

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

struct Draw {
  std::optional<std::uint64_t> last;  // the largest key drawn; nothing: none was
  std::vector<std::int64_t> counts;   // of those drawn in each of the cuts
};

// Draws round(fraction * eligible) of the entries labelled kTrain, of which there are `eligible`.
// `cuts`: ascending, from 0 to the number of entries; the work is cut there. Over ranks, each has
// cuts of its own, which together are those of all entries, `eligible` is of all, and counts are of
// the own cuts: the largest key is the same on all, and the same as of one process. `width`, for
// tests: the first guess at the largest key, in standard deviations each way.
Draw draw_fraction(const LabelSource& labels, const std::vector<std::int64_t>& cuts,
                   std::int64_t eligible, double fraction, const Keys& keys, ThreadTeam& team,
                   double width = 5, Communicator* ranks = nullptr);

// Labels as they are after the draw: `part` for those drawn. `before` and `keys` outlive it.
class DrawnLabels final : public LabelSource {
 public:
  DrawnLabels(const LabelSource& before, const Draw& draw, const Keys& keys, std::uint8_t part)
      : before_(before), keys_(keys), last_(draw.last), part_(part) {}
  const std::uint8_t* block(std::int64_t begin, std::int64_t end, Block& scratch) const override;

 private:
  const LabelSource& before_;
  const Keys& keys_;
  std::optional<std::uint64_t> last_;
  std::uint8_t part_;
};

// Chunks of [0, count) for a draw without others.
std::vector<std::int64_t> even_cuts(std::int64_t count);

// All labels, written down.
void write_labels(const LabelSource& labels, Labels& to, ThreadTeam& team);

std::int64_t count_label(const Labels& labels, std::uint8_t label, ThreadTeam& team);

void fill_labels(Labels& labels, std::uint8_t label, ThreadTeam& team);

}  // namespace mf
