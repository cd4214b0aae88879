// The largest key that is drawn is known before the keys are: of n uniform keys, the count-th
// smallest lies within a few standard deviations of 2^64 * count / n. So one pass labels all keys
// below that window, and keeps the few in it, of which the rest is drawn. A window that is missed
// (8 deviations: never seen) is widened and the pass repeated.
#include "datasets/draw.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

namespace mf {
namespace {

constexpr std::int64_t kChunk = std::int64_t{1} << 18;

// Keys below `low` are drawn, those above `high` are not.
struct Window {
  std::uint64_t low, high;
};

std::uint64_t key_at(double share) {
  if (share <= 0) return 0;
  if (share >= 1) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(share * 0x1p64);
}

Window window_of(std::int64_t count, std::int64_t eligible, double width) {
  const auto n = static_cast<double>(eligible);
  const double share = static_cast<double>(count) / n;
  const double half = (width * std::sqrt(n * share * (1 - share)) + width) / n;
  return {key_at(share - half), key_at(share + half)};
}

struct Candidate {
  std::uint64_t key;
  std::int64_t index;
  friend bool operator<(const Candidate& a, const Candidate& b) { return a.key < b.key; }
};

class Pass {
 public:
  Pass(Labels& labels, std::uint8_t part, const Keys& keys, Window window)
      : labels_(labels), part_(part), keys_(keys), window_(window) {}

  void run(LabelsAre before, ThreadTeam& team) {
    team.for_chunks(std::ssize(labels_), kChunk, [&](std::int64_t begin, std::int64_t end) {
      if (before == LabelsAre::unwritten) {
        std::fill(labels_.begin() + begin, labels_.begin() + end, std::uint8_t{kTrain});
      }
      chunk(begin, end);
    });
  }

  // Whether `count` are drawn once the smallest of the window are added to those below it.
  bool finish(std::int64_t count) {
    const std::int64_t missing = count - below_;
    if (missing < 0 || missing > std::ssize(inside_)) return false;
    std::nth_element(inside_.begin(), inside_.begin() + missing, inside_.end());
    for (std::int64_t k = 0; k < missing; ++k) {
      labels_[inside_[static_cast<std::size_t>(k)].index] = part_;
    }
    return true;
  }

 private:
  void chunk(std::int64_t begin, std::int64_t end) {
    std::vector<Candidate> inside;
    std::int64_t below = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint8_t label = labels_[i];
      const std::uint64_t key = keys_(i);
      // `part_`: of a pass before this one. No branch on what is random.
      const bool eligible = label == kTrain || label == part_;
      const bool drawn = eligible && key < window_.low;
      below += drawn ? 1 : 0;
      labels_[i] = drawn ? part_ : eligible ? std::uint8_t{kTrain} : label;
      if (key - window_.low <= window_.high - window_.low && eligible) [[unlikely]] {
        inside.push_back({key, i});
      }
    }
    below_ += below;
    if (inside.empty()) return;
    const std::lock_guard lock(mutex_);
    inside_.insert(inside_.end(), inside.begin(), inside.end());
  }

  Labels& labels_;
  std::uint8_t part_;
  const Keys& keys_;
  Window window_;
  std::atomic<std::int64_t> below_{0};
  std::mutex mutex_;  // of inside_
  std::vector<Candidate> inside_;
};

}  // namespace

std::int64_t count_label(const Labels& labels, std::uint8_t label, ThreadTeam& team) {
  std::atomic<std::int64_t> total{0};
  team.for_chunks(std::ssize(labels), kChunk, [&](std::int64_t begin, std::int64_t end) {
    total += std::count(labels.begin() + begin, labels.begin() + end, label);
  });
  return total;
}

void fill_labels(Labels& labels, std::uint8_t label, ThreadTeam& team) {
  team.for_chunks(std::ssize(labels), kChunk, [&](std::int64_t begin, std::int64_t end) {
    std::fill(labels.begin() + begin, labels.begin() + end, label);
  });
}

void draw_fraction(Labels& labels, LabelsAre before, double fraction, std::uint8_t part,
                   const Keys& keys, ThreadTeam& team, double width) {
  const bool all = before == LabelsAre::unwritten;
  const std::int64_t eligible = all ? std::ssize(labels) : count_label(labels, kTrain, team);
  const auto count =
      static_cast<std::int64_t>(std::llround(fraction * static_cast<double>(eligible)));
  if (count == 0) {
    if (all) fill_labels(labels, kTrain, team);
    return;
  }
  for (;; width = 8 * width + 1) {
    Pass pass(labels, part, keys, window_of(count, eligible, width));
    pass.run(before, team);
    if (pass.finish(count)) return;
    before = LabelsAre::written;
  }
}

}  // namespace mf
