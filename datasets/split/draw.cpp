// The largest key that is drawn is known before the keys are: of n uniform keys, the count-th
// smallest lies within a few standard deviations of 2^64 * count / n. So one pass counts all keys
// below that window, and keeps the few in it, of which the rest is drawn. A window that is missed
// (by 5 deviations: once in a million) is widened and the pass repeated.
#include "datasets/split/draw.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <vector>

namespace mf {
namespace {

constexpr std::int64_t kChunk = std::int64_t{1} << 18;
constexpr std::int64_t kGlance = 64;  // keys

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
  std::int64_t cut;
};

// Calls body(begin, end) for the blocks of [first, last).
template <std::int64_t kBlock = kLabelBlock, class Body>
void for_blocks(std::int64_t first, std::int64_t last, const Body& body) {
  for (std::int64_t i = first; i < last; i += kBlock) body(i, std::min(i + kBlock, last));
}

class Pass {
 public:
  Pass(const LabelSource& labels, const std::vector<std::int64_t>& cuts, const Keys& keys,
       Window window)
      : labels_(labels), cuts_(cuts), keys_(keys), window_(window), counts_(cuts.size() - 1) {}

  void run(ThreadTeam& team) {
    team.for_chunks(std::ssize(counts_), 1, [&](std::int64_t cut, std::int64_t) {
      std::vector<Candidate> inside;
      LabelSource::Block scratch;
      std::int64_t below = 0;
      const auto at = static_cast<std::size_t>(cut);
      for_blocks(cuts_[at], cuts_[at + 1], [&](std::int64_t begin, std::int64_t end) {
        below += block(labels_.block(begin, end, scratch), begin, end, cut, inside);
      });
      counts_[at] = below;
      if (inside.empty()) return;
      const std::lock_guard lock(mutex_);
      inside_.insert(inside_.end(), inside.begin(), inside.end());
    });
  }

  // `count` of them, once the smallest of the window are added to those below it; nothing where
  // the window missed.
  std::optional<Draw> finish(std::int64_t count, Communicator* ranks) {
    std::int64_t below = 0;
    for (const std::int64_t own : counts_) below += own;
    std::vector<std::uint64_t> window = keys_inside();
    if (ranks != nullptr) {
      below = sum_of(ranks->all_numbers(below));
      window = of_all(window, *ranks);
    }
    const std::int64_t missing = count - below;
    if (missing < 0 || missing > std::ssize(window)) return std::nullopt;
    // All below the window have keys below this one.
    Draw draw{window_.low - 1, std::move(counts_)};
    if (missing == 0) return draw;
    std::nth_element(window.begin(), window.begin() + (missing - 1), window.end());
    const std::uint64_t last = window[static_cast<std::size_t>(missing - 1)];
    draw.last = last;
    for (const Candidate& one : inside_) {
      if (one.key <= last) ++draw.counts[static_cast<std::size_t>(one.cut)];
    }
    return draw;
  }

 private:
  std::vector<std::uint64_t> keys_inside() const {
    std::vector<std::uint64_t> keys;
    for (const Candidate& one : inside_) keys.push_back(one.key);
    return keys;
  }

  static std::int64_t sum_of(const std::vector<std::int64_t>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
  }

  static std::vector<std::uint64_t> of_all(const std::vector<std::uint64_t>& own,
                                           Communicator& ranks) {
    PartOffsets parts = {0};
    for (const std::int64_t count : ranks.all_numbers(std::ssize(own)))
      parts.push_back(parts.back() + count);
    std::vector<std::uint64_t> all(static_cast<std::size_t>(parts.back()));
    std::copy(own.begin(), own.end(), all.begin() + parts[ranks.rank()]);
    ranks.all_gather(std::span(all), parts);
    return all;
  }

  // How many are below the window.
  std::int64_t block(const std::uint8_t* labels, std::int64_t begin, std::int64_t end,
                     std::int64_t cut, std::vector<Candidate>& inside) const {
    std::int64_t below = 0;
    for_blocks<kGlance>(begin, end, [&](std::int64_t first, std::int64_t last) {
      const std::uint8_t* const own = labels + (first - begin);
      const Seen seen = glance(own, first, last);
      below += seen.below;
      if (seen.inside) take_inside(own, first, last, cut, inside);
    });
    return below;
  }

  struct Seen {
    std::int64_t below = 0;
    bool inside = false;  // any key of the window
  };

  // Without a branch: few of the blocks have a key in the window.
  Seen glance(const std::uint8_t* labels, std::int64_t begin, std::int64_t end) const {
    const Keys keys = keys_;
    const Window window = window_;
    std::int64_t below = 0;
    std::int64_t up_to = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t key = keys(i);
      const bool eligible = labels[i - begin] == kTrain;
      below += (eligible & (key < window.low)) ? 1 : 0;
      up_to += (eligible & (key <= window.high)) ? 1 : 0;
    }
    return {below, up_to > below};
  }

  void take_inside(const std::uint8_t* labels, std::int64_t begin, std::int64_t end,
                   std::int64_t cut, std::vector<Candidate>& inside) const {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t key = keys_(i);
      const bool is_inside = window_.low <= key && key <= window_.high;
      if (is_inside && labels[i - begin] == kTrain) inside.push_back({key, cut});
    }
  }

  const LabelSource& labels_;
  const std::vector<std::int64_t>& cuts_;
  const Keys& keys_;
  Window window_;
  std::vector<std::int64_t> counts_;
  std::mutex mutex_;  // of inside_
  std::vector<Candidate> inside_;
};

}  // namespace

const std::uint8_t* DrawnLabels::block(std::int64_t begin, std::int64_t end, Block& scratch) const {
  const std::uint8_t* const before = before_.block(begin, end, scratch);
  if (!last_) return before;
  const Keys keys = keys_;
  const std::uint64_t last = *last_;
  const std::uint8_t part = part_;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::uint8_t label = before[i - begin];
    const bool drawn = label == kTrain && keys(i) <= last;  // no branch on what is random
    scratch[static_cast<std::size_t>(i - begin)] = drawn ? part : label;
  }
  return scratch.data();
}

std::vector<std::int64_t> even_cuts(std::int64_t count) {
  std::vector<std::int64_t> cuts = {0};
  while (cuts.back() < count) cuts.push_back(std::min(cuts.back() + kChunk, count));
  return cuts;
}

void write_labels(const LabelSource& labels, Labels& to, ThreadTeam& team) {
  team.for_chunks(std::ssize(to), kChunk, [&](std::int64_t first, std::int64_t last) {
    LabelSource::Block scratch;
    for_blocks(first, last, [&](std::int64_t begin, std::int64_t end) {
      const std::uint8_t* const from = labels.block(begin, end, scratch);
      if (from != to.data() + begin) std::copy_n(from, end - begin, to.data() + begin);
    });
  });
}

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

Draw draw_fraction(const LabelSource& labels, const std::vector<std::int64_t>& cuts,
                   std::int64_t eligible, double fraction, const Keys& keys, ThreadTeam& team,
                   double width, Communicator* ranks) {
  const auto count =
      static_cast<std::int64_t>(std::llround(fraction * static_cast<double>(eligible)));
  if (count == 0) return {std::nullopt, std::vector<std::int64_t>(cuts.size() - 1, 0)};
  for (;; width = 8 * width + 1) {
    Pass pass(labels, cuts, keys, window_of(count, eligible, width));
    pass.run(team);
    if (auto draw = pass.finish(count, ranks)) return *draw;
  }
}

}  // namespace mf
