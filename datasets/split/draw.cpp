// The largest key that is drawn is found in two passes: one counts the keys by their first bits, so
// that it is known which of these groups it is in; one collects the keys of that group.
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

constexpr std::int64_t kChunk = std::int64_t{1} << 18;
constexpr int kGroupBits = 12;

std::size_t group_of(std::uint64_t key) { return key >> (64 - kGroupBits); }

using KeyBlock = std::array<std::uint64_t, kLabelBlock>;

// Two multiplications of 64 bits a key: much faster where the CPU has those for vectors.
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

template <class AnyKeys>
class Draw {
 public:
  Draw(const LabelsOf& labels, std::int64_t first, std::int64_t end, const AnyKeys& keys,
       ThreadTeam& team, Communicator& ranks)
      : labels_(labels), first_(first), end_(end), keys_(keys), team_(team), ranks_(ranks) {}

  // How many of all keys are in each group.
  std::vector<std::int64_t> group_sizes() {
    std::vector<std::int64_t> all(std::size_t{1} << kGroupBits, 0);
    for_chunks([&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int64_t> own(all.size(), 0);
      for_labels(begin, end, [&](std::uint8_t label, std::uint64_t key) {
        own[group_of(key)] += label == kTrain ? 1 : 0;  // no branch on what is random
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

 private:
  template <class Body>
  void for_chunks(const Body& body) {
    team_.for_chunks(end_ - first_, kChunk, [&](std::int64_t begin, std::int64_t end) {
      body(first_ + begin, first_ + end);
    });
  }

  template <class Body>
  void for_labels(std::int64_t begin, std::int64_t end, const Body& body) {
    LabelBlock scratch;
    KeyBlock keys;
    for (std::int64_t at = begin; at < end; at += kLabelBlock) {
      const std::int64_t count = std::min(kLabelBlock, end - at);
      const std::uint8_t* const labels = labels_(at, at + count, scratch);
      keys_.fill(at, count, keys.data());
      for (std::int64_t i = 0; i < count; ++i) body(labels[i], keys[static_cast<std::size_t>(i)]);
    }
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

  const LabelsOf& labels_;
  const std::int64_t first_, end_;
  const AnyKeys& keys_;
  ThreadTeam& team_;
  Communicator& ranks_;
  std::mutex mutex_;  // of what the chunks add to
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
  const std::vector<std::int64_t> sizes = all.group_sizes();
  std::int64_t count = drawn(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
  if (count == 0) return std::nullopt;
  std::size_t group = 0;
  while (count > sizes[group]) count -= sizes[group++];
  std::vector<std::uint64_t> inside = all.keys_in(group);
  std::nth_element(inside.begin(), inside.begin() + (count - 1), inside.end());
  return inside[static_cast<std::size_t>(count - 1)];
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
