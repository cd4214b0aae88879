// Every rating index has a 64-bit key of (seed, purpose, index). A part is the ratings with the
// smallest keys, so the draw is uniform, exact in size, and independent of threads and of memory
// order. No array of keys is kept: they are cheaper to compute again than to load.
#include "datasets/split.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"

namespace mf {
namespace {

using Labels = AlignedVector<std::uint8_t>;
constexpr std::int64_t kChunk = std::int64_t{1} << 18;
constexpr std::int64_t kUserChunk = 4096;
enum class Purpose : std::uint64_t { test = 0x73706c69, validation, test_users, validation_users };
// Labels beside those of Part, within this file.
constexpr std::uint8_t kFoldIn = 3;    // a rating of a held-out user's history
constexpr std::uint8_t kTooShort = 4;  // a user with fewer than two ratings: trains

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

// The count smallest keys among ratings labelled kTrain, found by their leading bits: a histogram
// names the bin in which the last of them lies, and only that bin's keys are ordered.
class SmallestKeys {
 public:
  SmallestKeys(const Labels& labels, const Keys& keys, ThreadTeam& team)
      : labels_(labels), keys_(keys), team_(team) {}

  // The key of rank `count` (from 1; at most the number of ratings labelled kTrain).
  std::uint64_t threshold(std::int64_t count) {
    const auto [bin, rank] = find_bin(count);
    std::vector<std::uint64_t> members = keys_of_bin(bin);
    const auto nth = members.begin() + (rank - 1);
    std::nth_element(members.begin(), nth, members.end());
    return *nth;
  }

 private:
  static constexpr int kBits = 12;
  static constexpr std::size_t kBins = std::size_t{1} << kBits;
  struct Place {
    std::size_t bin;
    std::int64_t rank;  // within the bin, from 1
  };

  static std::size_t bin_of(std::uint64_t key) { return key >> (64 - kBits); }

  template <class Body>
  void for_each_key(std::int64_t begin, std::int64_t end, const Body& body) const {
    for (std::int64_t i = begin; i < end; ++i) {
      if (labels_[i] == kTrain) body(keys_(i));
    }
  }

  Place find_bin(std::int64_t count) {
    std::vector<std::int64_t> total(kBins, 0);
    std::mutex mutex;
    team_.for_chunks(size(), kChunk, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int64_t> counts(kBins, 0);
      for_each_key(begin, end, [&](std::uint64_t key) { ++counts[bin_of(key)]; });
      const std::lock_guard lock(mutex);
      for (std::size_t b = 0; b < kBins; ++b) total[b] += counts[b];
    });
    std::size_t bin = 0;
    while (count > total[bin]) count -= total[bin++];
    return {bin, count};
  }

  std::vector<std::uint64_t> keys_of_bin(std::size_t bin) {
    std::vector<std::uint64_t> members;
    std::mutex mutex;
    team_.for_chunks(size(), kChunk, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::uint64_t> found;
      for_each_key(begin, end, [&](std::uint64_t key) {
        if (bin_of(key) == bin) found.push_back(key);
      });
      const std::lock_guard lock(mutex);
      members.insert(members.end(), found.begin(), found.end());
    });
    return members;
  }

  std::int64_t size() const { return static_cast<std::int64_t>(labels_.size()); }

  const Labels& labels_;
  const Keys& keys_;
  ThreadTeam& team_;
};

std::int64_t count_label(const Labels& labels, std::uint8_t label, ThreadTeam& team) {
  std::atomic<std::int64_t> total{0};
  team.for_chunks(static_cast<std::int64_t>(labels.size()), kChunk,
                  [&](std::int64_t begin, std::int64_t end) {
                    total += std::count(labels.begin() + begin, labels.begin() + end, label);
                  });
  return total;
}

// Moves round(fraction * n) of the n ratings (or users) labelled kTrain to `part`.
void draw_fraction(Labels& labels, double fraction, std::uint8_t part, const Keys& keys,
                   ThreadTeam& team) {
  const std::int64_t eligible = count_label(labels, kTrain, team);
  const auto count =
      static_cast<std::int64_t>(std::llround(fraction * static_cast<double>(eligible)));
  if (count == 0) return;
  const std::uint64_t threshold = SmallestKeys(labels, keys, team).threshold(count);
  team.for_chunks(static_cast<std::int64_t>(labels.size()), kChunk,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t i = begin; i < end; ++i) {
                      if (labels[i] == kTrain && keys(i) <= threshold) labels[i] = part;
                    }
                  });
}

// Moves the k smallest keys among the ratings [begin, end) of one user, who has more than k, to
// `part`.
void leave_out_of_user(Labels& labels, std::int64_t begin, std::int64_t end, std::int64_t k,
                       std::uint8_t part, const Keys& keys, std::vector<std::uint64_t>& scratch) {
  scratch.clear();
  for (std::int64_t i = begin; i < end; ++i) scratch.push_back(keys(i));
  const auto nth = scratch.begin() + (k - 1);
  std::nth_element(scratch.begin(), nth, scratch.end());
  for (std::int64_t i = begin; i < end; ++i) {
    if (keys(i) <= *nth) labels[i] = part;
  }
}

void leave_out(Labels& labels, const Ratings& all, int k, const Keys& keys, ThreadTeam& team) {
  const auto offsets = all.user_offsets();
  team.for_chunks(all.n_users(), kUserChunk, [&](std::int64_t first, std::int64_t last) {
    std::vector<std::uint64_t> scratch;
    for (std::int64_t u = first; u < last; ++u) {
      const std::int64_t begin = offsets[u];
      const std::int64_t end = offsets[u + 1];
      if (end - begin > k) leave_out_of_user(labels, begin, end, k, kTest, keys, scratch);
    }
  });
}

// One label a user: kTest and kValidation for those held out.
Labels hold_out_users(const Dataset& data, const SplitSpec& spec, ThreadTeam& team) {
  const auto offsets = data.ratings.user_offsets();
  Labels users(data.ratings.n_users());
  for (std::int64_t u = 0; u < std::ssize(users); ++u)
    users[u] = offsets[u + 1] - offsets[u] < 2 ? kTooShort : static_cast<std::uint8_t>(kTrain);
  const std::int64_t eligible = count_label(users, kTrain, team);
  draw_fraction(users, spec.user_fraction, kTest, Keys(spec.seed, Purpose::test_users), team);
  draw_fraction(users, spec.validation_fraction, kValidation,
                Keys(spec.seed, Purpose::validation_users), team);
  const auto check_group = [&](const char* what, double fraction, std::uint8_t part) {
    if (fraction == 0 || count_label(users, part, team) > 0) return;
    fail(ErrorKind::usage,
         "{}: split: {} of {} leaves the {} part none of {} users with two or "
         "more ratings; give it a larger share",
         data.info.name, what, fraction, part == kTest ? "test" : "validation", eligible);
  };
  check_group("a share of users", spec.user_fraction, kTest);
  check_group("a validation share", spec.validation_fraction, kValidation);
  return users;
}

// Cuts the ratings of held-out users into history and the rest.
void cut_held_out(Labels& labels, const Dataset& data, const SplitSpec& spec, const Keys& keys,
                  ThreadTeam& team) {
  const Labels users = hold_out_users(data, spec, team);
  const auto offsets = data.ratings.user_offsets();
  team.for_chunks(data.ratings.n_users(), kUserChunk, [&](std::int64_t first, std::int64_t last) {
    std::vector<std::uint64_t> scratch;
    for (std::int64_t u = first; u < last; ++u) {
      if (users[u] != kTest && users[u] != kValidation) continue;
      const std::int64_t begin = offsets[u], end = offsets[u + 1], count = end - begin;
      const std::int64_t history = std::clamp<std::int64_t>(
          std::llround(spec.fold_in * static_cast<double>(count)), 1, count - 1);
      std::fill(labels.begin() + begin, labels.begin() + end, kFoldIn);
      leave_out_of_user(labels, begin, end, count - history, users[u], keys, scratch);
    }
  });
}

void check_fraction(double fraction, const char* name) {
  if (fraction >= 0 && fraction < 1) return;  // false for NaN too
  fail(ErrorKind::usage, "split: {} is {}, expected a number in [0, 1)", name, fraction);
}

void check(const Dataset& data, const SplitSpec& spec) {
  check_fraction(spec.test_fraction, "the test fraction");
  check_fraction(spec.validation_fraction, "the validation fraction");
  check_fraction(spec.user_fraction, "the share of users");
  check_fraction(spec.fold_in, "the share to fold in");
  if (spec.kind == SplitSpec::Kind::users && (spec.user_fraction == 0 || spec.fold_in == 0))
    fail(ErrorKind::usage,
         "split: the shares of users and of fold_in are {} and {}, expected "
         "numbers above 0",
         spec.user_fraction, spec.fold_in);
  if (spec.kind == SplitSpec::Kind::leave_out && spec.leave_out < 1)
    fail(ErrorKind::usage, "split: leave_out is {}, expected at least 1", spec.leave_out);
  if (data.ratings.nnz() == 0) fail(ErrorKind::data, "{}: has no ratings to split", data.info.name);
}

void fill(Labels& labels, ThreadTeam& team) {
  team.for_chunks(static_cast<std::int64_t>(labels.size()), kChunk,
                  [&](std::int64_t begin, std::int64_t end) {
                    std::fill(labels.begin() + begin, labels.begin() + end, kTrain);
                  });
}

Labels given_labels(const Dataset& data, const SplitSpec& spec) {
  if (data.parts.empty())
    fail(ErrorKind::usage,
         "{}: this data set has no given split; name one of the catalog's, or use holdout, "
         "leave_out or users",
         data.info.name);
  if (std::ssize(data.parts) != data.ratings.nnz())
    fail(ErrorKind::data, "{}: {} labels of a given split for {} ratings", data.info.name,
         data.parts.size(), data.ratings.nnz());
  const auto highest = *std::max_element(data.parts.begin(), data.parts.end());
  if (highest > kValidation)
    fail(ErrorKind::data, "{}: unknown label {} in the given split", data.info.name,
         static_cast<int>(highest));
  if (spec.validation_fraction > 0 && highest == kValidation)
    fail(ErrorKind::usage,
         "{}: its given split has a validation part already; leave out the validation fraction",
         data.info.name);
  return data.parts;
}

Labels make_labels(const Dataset& data, const SplitSpec& spec, ThreadTeam& team) {
  if (spec.kind == SplitSpec::Kind::given) return given_labels(data, spec);
  Labels labels(data.ratings.nnz());
  fill(labels, team);
  const Keys keys(spec.seed, Purpose::test);
  if (spec.kind == SplitSpec::Kind::holdout)
    draw_fraction(labels, spec.test_fraction, kTest, keys, team);
  else if (spec.kind == SplitSpec::Kind::leave_out)
    leave_out(labels, data.ratings, spec.leave_out, keys, team);
  else
    cut_held_out(labels, data, spec, keys, team);
  return labels;
}

// Flags of ids, set by many threads at once.
class Marks {
 public:
  explicit Marks(std::int64_t n) : flags_(n, 0) {}
  void set(std::int32_t id) {
    std::atomic_ref<std::uint8_t> flag(flags_[id]);
    // Popular ids are marked a million times: only the first of them writes to the line.
    if (flag.load(std::memory_order_relaxed) == 0) flag.store(1, std::memory_order_relaxed);
  }
  bool operator[](std::int32_t id) const { return flags_[id] != 0; }

 private:
  std::vector<std::uint8_t> flags_;
};

struct Seen {
  explicit Seen(const Ratings& ratings, ThreadTeam& team)
      : users(ratings.n_users()), items(ratings.n_items()) {
    team.for_chunks(ratings.nnz(), kChunk, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        users.set(ratings.users()[i]);
        items.set(ratings.items()[i]);
      }
    });
  }
  Marks users, items;
};

std::int64_t count_cold(const Marks& in_test, const Marks& in_train, std::int32_t n) {
  std::int64_t cold = 0;
  for (std::int32_t id = 0; id < n; ++id) cold += in_test[id] && !in_train[id] ? 1 : 0;
  return cold;
}

void count_cold(Split& split, ThreadTeam& team) {
  const Seen train(split.train, team);
  const Seen test(split.test, team);
  split.cold_users = count_cold(test.users, train.users, split.test.n_users());
  split.cold_items = count_cold(test.items, train.items, split.test.n_items());
  std::atomic<std::int64_t> cold{0};
  team.for_chunks(split.test.nnz(), kChunk, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t count = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const Rating r = split.test[i];
      count += train.users[r.user] && train.items[r.item] ? 0 : 1;
    }
    cold += count;
  });
  split.cold_ratings = cold;
}

}  // namespace

Split make_split(const Dataset& data, const SplitSpec& spec, int threads) {
  check(data, spec);
  ThreadTeam team(threads);
  Labels labels = make_labels(data, spec, team);
  if (spec.validation_fraction > 0 && spec.kind != SplitSpec::Kind::users)
    draw_fraction(labels, spec.validation_fraction, kValidation,
                  Keys(spec.seed, Purpose::validation), team);

  // Ids of its own: the parts do not keep all ratings alive beside themselves.
  const SharedIds ids = copy_ids(data.ratings);
  Split split;
  split.train = select(data.ratings, ids, labels, kTrain, threads);
  if (split.train.nnz() == 0)
    fail(ErrorKind::usage, "{}: the split leaves no rating to train on", data.info.name);
  split.test = select(data.ratings, ids, labels, kTest, threads);
  split.validation = select(data.ratings, ids, labels, kValidation, threads);
  split.fold_in = select(data.ratings, ids, labels, kFoldIn, threads);
  count_cold(split, team);
  return split;
}

}  // namespace mf
