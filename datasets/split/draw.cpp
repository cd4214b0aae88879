// The largest drawn key of uniform keys lies near its expectation: one pass counts the keys below a
// window around that and collects the keys within. If it is outside, as with keys by time, two
// passes find it: one counts the keys by their first bits, which gives its group; one collects the
// keys of that group.
#include "datasets/split/draw.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/clones.hpp"
#include "datasets/ratings/dataset.hpp"

namespace mf {
namespace {

constexpr std::int64_t kDrawChunk = std::int64_t{1} << 18;
constexpr int kGroupBits = 12;
constexpr std::int64_t kKeysLookedAt = 128;  // keys, of which few have one near the largest drawn

std::size_t group_of(std::uint64_t key) { return key >> (64 - kGroupBits); }

using KeyBlock = std::array<std::uint64_t, kLabelBlock>;

// Two multiplications of 64 bits a key: much faster if the CPU has them for vectors.
MF_CLONES void fill_keys(std::uint64_t base, std::int64_t begin, std::int64_t count,
                         std::uint64_t* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = Keys::key_at(base, begin + i);
}

// `to` for the entries labelled `from` whose keys are at most `last`.
MF_CLONES void relabel(const std::uint8_t* labels, const std::uint64_t* keys, std::int64_t count,
                       std::uint64_t last, std::uint8_t from, std::uint8_t to,
                       std::uint8_t* relabelled) {
  for (std::int64_t i = 0; i < count; ++i)
    relabelled[i] = labels[i] == from && keys[i] <= last ? to : labels[i];
}

// Keys [low, low + width].
struct Window {
  std::uint64_t low = 0, width = 0;
  bool holds(std::uint64_t key) const { return key - low <= width; }
};

// Around the largest of a share of n uniform keys, by eight standard deviations.
Window window_of(double share, double n) {
  constexpr double kAll = 0x1p64;
  const double half = 8 * std::sqrt(share * (1 - share) / std::max(1.0, n)) + 0x1p-40;
  const auto key = [](double part) {
    return part >= 1 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(std::max(0.0, part) * kAll);
  };
  const std::uint64_t low = key(share - half);
  return {low, key(share + half) - low};
}

struct KeyCounts {
  std::int64_t all = 0, below = 0, within = 0;  // of a window
  KeyCounts& operator+=(const KeyCounts& other) {
    all += other.all;
    below += other.below;
    within += other.within;
    return *this;
  }
};

MF_CLONES KeyCounts count_keys(const std::uint8_t* labels, const std::uint64_t* keys,
                               std::int64_t count, Window window, bool all_train) {
  KeyCounts counts;
  if (all_train) {  // without their labels, which are of another width than keys
    for (std::int64_t i = 0; i < count; ++i) {
      counts.below += keys[i] < window.low ? 1 : 0;
      counts.within += keys[i] - window.low <= window.width ? 1 : 0;
    }
    counts.all = count;
    return counts;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t drawn_from = labels[i] == kTrain ? 1 : 0;
    counts.all += drawn_from;
    counts.below += keys[i] < window.low ? drawn_from : 0;
    counts.within += keys[i] - window.low <= window.width ? drawn_from : 0;
  }
  return counts;
}

// The k-th smallest, from 1.
std::uint64_t smallest(std::vector<std::uint64_t> keys, std::int64_t k) {
  std::nth_element(keys.begin(), keys.begin() + (k - 1), keys.end());
  return keys[static_cast<std::size_t>(k - 1)];
}

template <class AnyKeys>
class Draw {
 public:
  Draw(const LabelsOf& labels, std::int64_t first, std::int64_t end, const AnyKeys& keys,
       ThreadTeam& team, Communicator& ranks)
      : labels_(labels), first_(first), end_(end), keys_(keys), team_(team), ranks_(ranks) {}

  // This rank's keys in a window; the counts are of all ranks.
  struct Found {
    KeyCounts counts;
    std::vector<std::uint64_t> within;

    void look(const std::uint8_t* labels, const std::uint64_t* keys, std::int64_t count,
              Window window, bool all_train) {
      counts += count_keys(labels, keys, count, window, all_train);
      if (counts.within == std::ssize(within)) return;  // mostly
      for (std::int64_t i = 0; i < count; ++i)
        if (labels[i] == kTrain && window.holds(keys[i])) within.push_back(keys[i]);
    }
  };
  Found look_in(Window window) {
    Found found;
    for_chunks([&](std::int64_t begin, std::int64_t end) {
      Found own;
      for_blocks(begin, end,
                 [&](const std::uint8_t* labels, const KeyBlock& keys, std::int64_t count) {
                   const bool all_train = count_label(labels, count, kTrain) == count;
                   for (std::int64_t at = 0; at < count; at += kKeysLookedAt) {
                     const std::int64_t now = std::min(kKeysLookedAt, count - at);
                     own.look(labels + at, keys.data() + at, now, window, all_train);
                   }
                 });
      const std::lock_guard lock(mutex_);
      found.counts += own.counts;
      found.within.insert(found.within.end(), own.within.begin(), own.within.end());
    });
    std::array<std::int64_t, 3> sums = {found.counts.all, found.counts.below, found.counts.within};
    ranks_.all_sum(std::span<std::int64_t>(sums));
    found.counts = {sums[0], sums[1], sums[2]};
    return found;
  }

  std::int64_t entries() const {
    const auto of_ranks = ranks_.all_numbers(end_ - first_);
    return std::accumulate(of_ranks.begin(), of_ranks.end(), std::int64_t{0});
  }

  // How many of all keys are in each group.
  std::vector<std::int64_t> group_sizes() {
    std::vector<std::int64_t> all(std::size_t{1} << kGroupBits, 0);
    for_chunks([&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int64_t> own(all.size(), 0);
      for_labels(begin, end, [&](std::uint8_t label, std::uint64_t key) {
        own[group_of(key)] += label == kTrain ? 1 : 0;  // no branch on random labels
      });
      const std::lock_guard lock(mutex_);
      std::transform(own.begin(), own.end(), all.begin(), all.begin(), std::plus<>());
    });
    ranks_.all_sum(std::span(all));
    return all;
  }

  std::vector<std::uint64_t> keys_in(std::size_t group) {
    std::vector<std::uint64_t> all;
    for_chunks([&](std::int64_t begin, std::int64_t end) {
      std::vector<std::uint64_t> own;
      for_labels(begin, end, [&](std::uint8_t label, std::uint64_t key) {
        if (group_of(key) == group && label == kTrain) own.push_back(key);
      });
      const std::lock_guard lock(mutex_);
      all.insert(all.end(), own.begin(), own.end());
    });
    return of_all(all);
  }

  std::vector<std::uint64_t> of_all(const std::vector<std::uint64_t>& own) {
    PartOffsets parts = {0};
    for (const std::int64_t count : ranks_.all_numbers(std::ssize(own))) {
      parts.push_back(parts.back() + count);
    }
    std::vector<std::uint64_t> all(static_cast<std::size_t>(parts.back()));
    std::copy(own.begin(), own.end(), all.begin() + parts[ranks_.rank()]);
    ranks_.all_gather(std::span(all), parts);
    return all;
  }

 private:
  template <class Body>
  void for_chunks(const Body& body) {
    team_.for_chunks(end_ - first_, kDrawChunk, [&](std::int64_t begin, std::int64_t end) {
      body(first_ + begin, first_ + end);
    });
  }

  template <class Body>
  void for_blocks(std::int64_t begin, std::int64_t end, const Body& body) {
    LabelBlock scratch;
    KeyBlock keys;
    for (std::int64_t at = begin; at < end; at += kLabelBlock) {
      const std::int64_t count = std::min(kLabelBlock, end - at);
      const std::uint8_t* const labels = labels_(at, at + count, scratch);
      keys_.fill(at, count, keys.data());
      body(labels, keys, count);
    }
  }

  template <class Body>
  void for_labels(std::int64_t begin, std::int64_t end, const Body& body) {
    for_blocks(begin, end,
               [&](const std::uint8_t* labels, const KeyBlock& keys, std::int64_t count) {
                 for (std::int64_t i = 0; i < count; ++i)
                   body(labels[i], keys[static_cast<std::size_t>(i)]);
               });
  }

  const LabelsOf& labels_;
  const std::int64_t first_, end_;
  const AnyKeys& keys_;
  ThreadTeam& team_;
  Communicator& ranks_;
  std::mutex mutex_;  // of the results that chunks add to
};

}  // namespace

void Keys::fill(std::int64_t begin, std::int64_t count, std::uint64_t* to) const {
  fill_keys(base_, begin, count, to);
}

DrawnOf share_of(double fraction) {
  return [=](std::int64_t n) { return std::llround(fraction * static_cast<double>(n)); };
}

template <class AnyKeys>
std::optional<std::uint64_t> draw(const LabelsOf& labels, std::int64_t first, std::int64_t end,
                                  const DrawnOf& drawn, const AnyKeys& keys, ThreadTeam& team,
                                  Communicator& ranks) {
  Draw<AnyKeys> all(labels, first, end, keys, team, ranks);
  if constexpr (AnyKeys::kUniform) {
    const std::int64_t n = all.entries();
    const double share = n > 0 ? static_cast<double>(drawn(n)) / static_cast<double>(n) : 0;
    const auto found = all.look_in(window_of(share, static_cast<double>(n)));
    const std::int64_t count = drawn(found.counts.all) - found.counts.below;
    if (count > 0 && count <= found.counts.within) return smallest(all.of_all(found.within), count);
  }
  const std::vector<std::int64_t> sizes = all.group_sizes();
  std::int64_t count = drawn(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
  if (count == 0) return std::nullopt;
  std::size_t group = 0;
  while (count > sizes[group]) count -= sizes[group++];
  return smallest(all.keys_in(group), count);
}

template <class AnyKeys>
LabelsOf drawn_labels(LabelsOf before, std::optional<std::uint64_t> last, const AnyKeys& keys,
                      std::uint8_t from, std::uint8_t to) {
  if (!last) return before;
  return [before = std::move(before), last = *last, keys, from, to](
             std::int64_t begin, std::int64_t end, LabelBlock& scratch) {
    const std::uint8_t* const labels = before(begin, end, scratch);
    KeyBlock of_block;
    keys.fill(begin, end - begin, of_block.data());
    relabel(labels, of_block.data(), end - begin, last, from, to, scratch.data());
    return static_cast<const std::uint8_t*>(scratch.data());
  };
}

#define MF_DRAW_BY(AnyKeys)                                                               \
  template std::optional<std::uint64_t> draw(const LabelsOf&, std::int64_t, std::int64_t, \
                                             const DrawnOf&, const AnyKeys&, ThreadTeam&, \
                                             Communicator&);                              \
  template LabelsOf drawn_labels(LabelsOf, std::optional<std::uint64_t>, const AnyKeys&,  \
                                 std::uint8_t, std::uint8_t);
MF_DRAW_BY(Keys)
MF_DRAW_BY(TimeKeys)
#undef MF_DRAW_BY

}  // namespace mf
