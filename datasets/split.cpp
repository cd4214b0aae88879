// What is drawn uniformly is known by its largest key (datasets/draw.hpp), so a rating's label is
// computed anew where it is needed; users and leave-out write one byte a rating. All parts come
// from one pass over the ratings (datasets/ratings/select_parts.hpp). What is cold follows from the
// rows and the items of the parts.
#include "datasets/split.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/threads.hpp"
#include "datasets/draw.hpp"
#include "datasets/ratings/select_parts.hpp"

namespace mf {
namespace {

constexpr std::int64_t kChunk = std::int64_t{1} << 18;
constexpr std::int64_t kUserChunk = 4096;
// Labels beside those of Part, within this file.
constexpr std::uint8_t kFoldIn = 3;    // a rating of a held-out user's history
constexpr std::uint8_t kTooShort = 4;  // a user with fewer than two ratings: trains

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
  team.for_chunks(std::ssize(users), kChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t u = begin; u < end; ++u)
      users[u] = offsets[u + 1] - offsets[u] < 2 ? kTooShort : static_cast<std::uint8_t>(kTrain);
  });
  const std::int64_t eligible = count_label(users, kTrain, team);
  const auto cuts = even_cuts(std::ssize(users));
  const auto draw = [&](double fraction, Purpose purpose, std::uint8_t part) {
    const Keys keys(spec.seed, purpose);
    const StoredLabels before(users);
    const std::int64_t left = count_label(users, kTrain, team);
    const Draw drawn = draw_fraction(before, cuts, left, fraction, keys, team);
    write_labels(DrawnLabels(before, drawn, keys, part), users, team);
  };
  draw(spec.user_fraction, Purpose::test_users, kTest);
  draw(spec.validation_fraction, Purpose::validation_users, kValidation);
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

// One a rating, for the kinds that do not draw ratings uniformly.
Labels stored_labels(const Dataset& data, const SplitSpec& spec, ThreadTeam& team) {
  if (spec.kind == SplitSpec::Kind::given) return given_labels(data, spec);
  if (spec.kind == SplitSpec::Kind::holdout) return {};
  Labels labels(data.ratings.nnz());
  const Keys keys(spec.seed, Purpose::test);
  fill_labels(labels, kTrain, team);
  if (spec.kind == SplitSpec::Kind::leave_out)
    leave_out(labels, data.ratings, spec.leave_out, keys, team);
  else
    cut_held_out(labels, data, spec, keys, team);
  return labels;
}

// The label of each rating, and how many there are of each in the runs of rows.
class Labelling {
 public:
  Labelling(const Dataset& data, const SplitSpec& spec, View<const std::uint8_t> wanted,
            ThreadTeam& team)
      : runs_(rating_runs(data.ratings)), stored_(stored_labels(data, spec, team)) {
    if (spec.kind == SplitSpec::Kind::holdout) {
      sources_.push_back(std::make_unique<SameLabel>(kTrain));
      counts_ = {sizes_of_runs()};
      draw(spec.test_fraction, kTest, test_keys_ = Keys(spec.seed, Purpose::test), team);
      if (spec.validation_fraction > 0) draw_validation(spec, team);
      return;
    }
    sources_.push_back(std::make_unique<StoredLabels>(stored_));
    counts_ = count_parts(*sources_.back(), runs_, wanted, team);
    if (spec.validation_fraction > 0 && spec.kind != SplitSpec::Kind::users) {
      counts_.pop_back();  // of kValidation, the last of the wanted: there is none yet
      draw_validation(spec, team);
    }
  }

  const LabelSource& labels() const { return *sources_.back(); }
  const RatingRuns& runs() const { return runs_; }
  const RunCounts& counts() const { return counts_; }  // as `wanted`, of which kTrain is the first

  bool trains() const {
    return std::any_of(counts_[0].begin(), counts_[0].end(), [](auto count) { return count > 0; });
  }

 private:
  std::vector<std::int64_t> sizes_of_runs() const {
    std::vector<std::int64_t> sizes;
    for (std::size_t r = 0; r + 1 < runs_.first_rating.size(); ++r)
      sizes.push_back(runs_.first_rating[r + 1] - runs_.first_rating[r]);
    return sizes;
  }

  void draw_validation(const SplitSpec& spec, ThreadTeam& team) {
    draw(spec.validation_fraction, kValidation,
         validation_keys_ = Keys(spec.seed, Purpose::validation), team);
  }

  // From the training part, the first, into a new one, the last.
  void draw(double fraction, std::uint8_t part, const Keys& keys, ThreadTeam& team) {
    auto& train = counts_[0];
    const auto eligible = std::accumulate(train.begin(), train.end(), std::int64_t{0});
    Draw drawn = draw_fraction(labels(), runs_.first_rating, eligible, fraction, keys, team);
    sources_.push_back(std::make_unique<DrawnLabels>(labels(), drawn, keys, part));
    for (std::size_t r = 0; r < train.size(); ++r) train[r] -= drawn.counts[r];
    counts_.push_back(std::move(drawn.counts));
  }

  RatingRuns runs_;
  Labels stored_;
  Keys test_keys_{0, Purpose::test}, validation_keys_{0, Purpose::validation};
  std::vector<std::unique_ptr<LabelSource>> sources_;  // each after the one before
  RunCounts counts_;
};

bool has_row(const Ratings& ratings, std::int64_t user) {
  return ratings.user_offsets()[user + 1] > ratings.user_offsets()[user];
}

// Users in test without a rating in train.
std::int64_t count_cold_users(const Split& split, ThreadTeam& team) {
  std::atomic<std::int64_t> cold{0};
  team.for_chunks(split.test.n_users(), kUserChunk, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t count = 0;
    for (std::int64_t u = begin; u < end; ++u)
      count += has_row(split.test, u) && !has_row(split.train, u) ? 1 : 0;
    cold += count;
  });
  return cold;
}

using Flags = AlignedVector<std::uint8_t>;

std::int64_t count_cold_ratings(const Split& split, const Flags& item_trained, ThreadTeam& team) {
  std::atomic<std::int64_t> cold{0};
  team.for_chunks(split.test.nnz(), kChunk, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t count = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const Rating r = split.test[i];
      count += has_row(split.train, r.user) && item_trained[r.item] != 0 ? 0 : 1;
    }
    cold += count;
  });
  return cold;
}

void count_cold(Split& split, const Flags& item_trained, const Flags& item_tested,
                ThreadTeam& team) {
  split.cold_users = count_cold_users(split, team);
  for (std::int64_t i = 0; i < std::ssize(item_tested); ++i)
    split.cold_items += item_tested[i] != 0 && item_trained[i] == 0 ? 1 : 0;
  if (split.cold_users + split.cold_items > 0)
    split.cold_ratings = count_cold_ratings(split, item_trained, team);
}

// The labels that this kind of split gives.
std::vector<std::uint8_t> labels_of(const SplitSpec& spec) {
  std::vector<std::uint8_t> labels = {kTrain, kTest};
  if (spec.validation_fraction > 0 || spec.kind == SplitSpec::Kind::given)
    labels.push_back(kValidation);
  if (spec.kind == SplitSpec::Kind::users) labels.push_back(kFoldIn);
  return labels;
}

Ratings& part_of(Split& split, std::uint8_t label) {
  switch (label) {
    case kTrain:
      return split.train;
    case kTest:
      return split.test;
    case kValidation:
      return split.validation;
    default:
      return split.fold_in;
  }
}

Split split_of(const Dataset& data, const SplitSpec& spec, Originals originals, int threads) {
  check(data, spec);
  ThreadTeam team(threads);
  const auto wanted = labels_of(spec);
  const Labelling labelling(data, spec, wanted, team);
  if (!labelling.trains())
    fail(ErrorKind::usage, "{}: the split leaves no rating to train on", data.info.name);
  // Ids of its own: the parts do not keep all ratings alive beside themselves.
  const SharedIds ids = copy_ids(data.ratings, team);
  auto parts = select_parts(data.ratings, ids, labelling.labels(), labelling.runs(),
                            labelling.counts(), wanted, team, originals);
  Split split;
  split.validation = split.fold_in = no_ratings_of(ids);
  for (std::size_t k = 0; k < wanted.size(); ++k)
    part_of(split, wanted[k]) = std::move(parts[k].ratings);
  count_cold(split, parts[0].item_rated, parts[1].item_rated, team);
  return split;
}

}  // namespace

Split make_split(const Dataset& data, const SplitSpec& spec, int threads) {
  return split_of(data, spec, Originals::kept, threads);
}

Split make_split_consuming(Dataset data, const SplitSpec& spec, int threads) {
  return split_of(data, spec, Originals::consumed, threads);
}

}  // namespace mf
