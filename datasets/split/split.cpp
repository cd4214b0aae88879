// The largest key defines a uniform draw (datasets/split/draw.hpp), so a rating's label is computed
// when it is needed; users and leave-out write one byte a rating. All parts come from one pass over
// the ratings (datasets/ratings/select_parts.hpp). Cold users and items follow from the rows and
// the items of the parts.
#include "datasets/split/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/rank_offsets.hpp"
#include "datasets/ratings/select_parts.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"
#include "datasets/readers/times.hpp"
#include "datasets/split/draw.hpp"

namespace mf {
namespace {

constexpr std::int64_t kSplitChunk = std::int64_t{1} << 18;
constexpr std::int64_t kSplitUsers = 4096;
// Labels beside those of Part, within this file.
constexpr std::uint8_t kFoldIn = 3;    // a rating of a held-out user's history
constexpr std::uint8_t kTooShort = 4;  // a user with fewer than two ratings: trains

using Scratch = std::vector<std::uint64_t>;

// The rows to cut: one rank's, or all.
struct Scope {
  const Ratings& all;
  Communicator& ranks;
  std::int64_t first_user, end_user;

  Scope(const Ratings& whole, const PartOffsets& users, Communicator& of)
      : all(whole), ranks(of), first_user(users[of.rank()]), end_user(users[of.rank() + 1]) {}

  std::int64_t first_rating() const { return offset(first_user); }
  std::int64_t ratings() const { return offset(end_user) - offset(first_user); }

  std::int64_t sum(std::int64_t own) const {
    const auto numbers = ranks.all_numbers(own);
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
  }

 private:
  std::int64_t offset(std::int64_t user) const {
    return all.user_offsets().empty() ? 0 : all.user_offsets()[user];
  }
};

// A byte for each rating of a scope, found by its place in the whole matrix.
class RowLabels {
 public:
  explicit RowLabels(const Scope& scope) : scope_(scope), labels_(scope.ratings(), kTrain) {}

  std::uint8_t* at(std::int64_t rating) {
    return labels_.data() + (rating - scope_.first_rating());
  }
  Labels& all() { return labels_; }

  // Calls body(user, first rating, end, scratch) for the users of the scope.
  template <class Body>
  void for_users(ThreadTeam& team, const Body& body) {
    const auto offsets = scope_.all.user_offsets();
    team.for_chunks(scope_.end_user - scope_.first_user, kSplitUsers,
                    [&](std::int64_t first, std::int64_t last) {
                      Scratch scratch;
                      for (std::int64_t u = scope_.first_user + first; u < scope_.first_user + last;
                           ++u)
                        body(u, offsets[u], offsets[u + 1], scratch);
                    });
  }

 private:
  const Scope& scope_;
  Labels labels_;
};

struct Relabel {
  std::uint8_t from, to;
};

// Moves the k smallest keys among the ratings [begin, end) of one user that are labelled `from`, of
// which there are more than k, to `to`; else none.
template <class AnyKeys>
void leave_out_of_user(RowLabels& labels, std::int64_t begin, std::int64_t end, std::int64_t k,
                       Relabel move, const AnyKeys& keys, Scratch& scratch) {
  scratch.clear();
  for (std::int64_t i = begin; i < end; ++i)
    if (*labels.at(i) == move.from) scratch.push_back(keys(i));
  if (std::ssize(scratch) <= k) return;
  const auto nth = scratch.begin() + (k - 1);
  std::nth_element(scratch.begin(), nth, scratch.end());
  for (std::int64_t i = begin; i < end; ++i) {
    if (*labels.at(i) == move.from && keys(i) <= *nth) *labels.at(i) = move.to;
  }
}

template <class AnyKeys>
void leave_out(RowLabels& labels, int k, std::uint8_t part, const AnyKeys& keys, ThreadTeam& team) {
  if (k == 0) return;
  labels.for_users(team, [&](std::int64_t, std::int64_t begin, std::int64_t end, Scratch& scratch) {
    leave_out_of_user(labels, begin, end, k, {kTrain, part}, keys, scratch);
  });
}

// One label a user: kTest and kValidation for those held out.
Labels hold_out_users(const Dataset& data, const SplitSpec& spec, ThreadTeam& team) {
  const auto offsets = data.ratings.user_offsets();
  Labels users(data.ratings.n_users());
  team.for_chunks(std::ssize(users), kSplitChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t u = begin; u < end; ++u)
      users[u] = offsets[u + 1] - offsets[u] < 2 ? kTooShort : static_cast<std::uint8_t>(kTrain);
  });
  const std::int64_t eligible = std::count(users.begin(), users.end(), kTrain);
  Communicator self;  // every rank knows all users
  const auto draw = [&](double fraction, Purpose purpose, std::uint8_t part) {
    if (fraction == 0) return;
    const Keys keys(spec.seed, purpose);
    const auto last =
        mf::draw(stored_labels(users), 0, std::ssize(users), share_of(fraction), keys, team, self);
    for (std::int64_t u = 0; last && u < std::ssize(users); ++u)
      if (users[u] == kTrain && keys(u) <= *last) users[u] = part;
  };
  draw(spec.user_fraction, Purpose::test_users, kTest);
  draw(spec.validation_fraction, Purpose::validation_users, kValidation);
  const auto check_group = [&](const char* what, double fraction, std::uint8_t part) {
    if (fraction == 0 || std::count(users.begin(), users.end(), part) > 0) return;
    fail(ErrorKind::usage,
         "{}: split: {} of {} leaves the {} part without users; {} have two or more ratings: give "
         "it a "
         "larger share",
         data.info.name, what, fraction, part == kTest ? "test" : "validation", eligible);
  };
  check_group("a share of users", spec.user_fraction, kTest);
  check_group("a validation share", spec.validation_fraction, kValidation);
  return users;
}

// Cuts the ratings of held-out users into history and the rest.
void cut_held_out(RowLabels& labels, const Dataset& data, const SplitSpec& spec, const Keys& keys,
                  ThreadTeam& team) {
  const Labels users = hold_out_users(data, spec, team);
  labels.for_users(team, [&](std::int64_t user, std::int64_t begin, std::int64_t end,
                             Scratch& scratch) {
    if (users[user] != kTest && users[user] != kValidation) return;
    const std::int64_t count = end - begin;
    const std::int64_t history = std::clamp<std::int64_t>(
        std::llround(spec.fold_in * static_cast<double>(count)), 1, count - 1);
    std::fill(labels.at(begin), labels.at(end), kFoldIn);
    leave_out_of_user(labels, begin, end, count - history, {kFoldIn, users[user]}, keys, scratch);
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
  check_fraction(spec.before_cut, "the share before the cut");
  if (spec.kind == SplitSpec::Kind::users && (spec.user_fraction == 0 || spec.fold_in == 0))
    fail(ErrorKind::usage,
         "split: the shares of users and of fold_in are {} and {}, expected "
         "numbers above 0",
         spec.user_fraction, spec.fold_in);
  if (spec.kind == SplitSpec::Kind::leave_out && spec.leave_out < 1)
    fail(ErrorKind::usage, "split: leave_out is {}, expected at least 1", spec.leave_out);
  if (spec.leave_last < 1 || spec.validation_last < 0)
    fail(ErrorKind::usage,
         "split: leave_last is {} with a validation of {}, expected at least 1 and 0",
         spec.leave_last, spec.validation_last);
  if (spec.folds < 2 || spec.fold < 1 || spec.fold > spec.folds)
    fail(ErrorKind::usage, "split: fold {} of {}, expected one of two or more", spec.fold,
         spec.folds);
  if (data.ratings.nnz() == 0) fail(ErrorKind::data, "{}: has no ratings to split", data.info.name);
  if (spec.needs_times() && data.times.all.size() != data.ratings.nnz())
    fail(ErrorKind::data, "{}: a split by time of {} ratings, of which {} have a time",
         data.info.name, data.ratings.nnz(), data.times.all.size());
}

// The highest label of the scope.
std::uint8_t highest_label(View<const std::uint8_t> labels, ThreadTeam& team) {
  std::atomic<std::uint8_t> highest{0};
  team.for_chunks(labels.size(), kSplitChunk, [&](std::int64_t begin, std::int64_t end) {
    std::uint8_t own = 0;
    for (std::int64_t i = begin; i < end; ++i) own = std::max(own, labels[i]);
    for (std::uint8_t seen = highest; own > seen && !highest.compare_exchange_weak(seen, own);) {
    }
  });
  return highest;
}

LabelsOf given_labels(const Dataset& data, const SplitSpec& spec, const Scope& scope,
                      ThreadTeam& team) {
  const View<const std::uint8_t> given = data.parts.all;
  if (given.empty())
    fail(ErrorKind::usage,
         "{}: this data set has no given split; name one of the catalog's, or use holdout, "
         "leave_out or users",
         data.info.name);
  if (given.size() != data.ratings.nnz())
    fail(ErrorKind::data, "{}: {} labels of a given split for {} ratings", data.info.name,
         given.size(), data.ratings.nnz());
  const auto own = given.part(scope.first_rating(), scope.first_rating() + scope.ratings());
  const std::int64_t highest = -scope.ranks.all_min(-std::int64_t{highest_label(own, team)});
  if (highest > kValidation)
    fail(ErrorKind::data, "{}: unknown label {} in the given split", data.info.name, highest);
  if (spec.validation_fraction > 0 && highest == kValidation)
    fail(ErrorKind::usage,
         "{}: its given split has a validation part already; leave out the validation fraction",
         data.info.name);
  return stored_labels(given);
}

// The rule of implicit feedback drops ratings, and leaves the others their places in time.
TimeKeys latest_first(const Dataset& data) {
  const auto& rule = data.info.implicit;
  return TimeKeys(data.times.all, data.ratings.nnz() + (rule ? rule->ratings_dropped : 0));
}

// One a rating of the scope, for the kinds that cut rows.
Labels written_labels(const Dataset& data, const SplitSpec& spec, const Scope& scope,
                      ThreadTeam& team) {
  if (spec.kind == SplitSpec::Kind::given || spec.draws_ratings()) return {};
  Labels labels;
  scope.ranks.agree([&] {  // if one rank fails, all fail
    RowLabels rows(scope);
    const Keys keys(spec.seed, Purpose::test);
    if (spec.kind == SplitSpec::Kind::leave_out) {
      leave_out(rows, spec.leave_out, kTest, keys, team);
    } else if (spec.kind == SplitSpec::Kind::leave_last) {
      const TimeKeys latest = latest_first(data);
      leave_out(rows, spec.leave_last, kTest, latest, team);
      leave_out(rows, spec.validation_last, kValidation, latest, team);
    } else {
      cut_held_out(rows, data, spec, keys, team);
    }
    labels = std::move(rows.all());
  });
  return labels;
}

// Labels of ratings that are drawn among all of the ranks.
class DrawnLabels {
 public:
  DrawnLabels(const Scope& scope, ThreadTeam& team, LabelsOf start)
      : scope_(scope), team_(team), labels_(std::move(start)) {}

  template <class AnyKeys>
  void draw(const DrawnOf& drawn, const AnyKeys& keys, std::uint8_t part) {
    draw(labels_, drawn, keys, {kTrain, part});
  }

  // The ratings that are the smallest `most` but not the smallest `least`.
  void draw_between(const DrawnOf& least, const DrawnOf& most, const Keys& keys) {
    const LabelsOf all = labels_;
    draw(all, most, keys, {kTrain, kTest});
    draw(all, least, keys, {kTest, kTrain});
  }

  LabelsOf take() { return std::move(labels_); }

 private:
  template <class AnyKeys>
  void draw(const LabelsOf& among, const DrawnOf& drawn, const AnyKeys& keys, Relabel move) {
    const std::int64_t first = scope_.first_rating();
    const auto last =
        mf::draw(among, first, first + scope_.ratings(), drawn, keys, team_, scope_.ranks);
    labels_ = drawn_labels(std::move(labels_), last, keys, move.from, move.to);
  }

  const Scope& scope_;
  ThreadTeam& team_;
  LabelsOf labels_;
};

LabelsOf all_train() {
  return [](std::int64_t, std::int64_t, LabelBlock& scratch) {
    scratch.fill(kTrain);
    return static_cast<const std::uint8_t*>(scratch.data());
  };
}

// For n entries, floor(n * fold / folds): so no fold has two more than another.
DrawnOf end_of_fold(std::int64_t fold, std::int64_t folds) {
  return [=](std::int64_t n) { return n / folds * fold + n % folds * fold / folds; };
}

// The earliest time of the ratings with this label, of all ranks; empty without any. Or the
// latest.
std::optional<std::int64_t> earliest(const Dataset& data, const Scope& scope,
                                     const LabelsOf& labels, std::uint8_t label, ThreadTeam& team,
                                     bool latest = false) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  const auto turned = [=](std::int64_t time) { return latest ? ~time : time; };
  std::atomic<std::int64_t> least{kNone};
  const std::int64_t first = scope.first_rating();
  team.for_chunks(scope.ratings(), kSplitChunk, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t own = kNone;
    LabelBlock scratch;
    for (std::int64_t at = first + begin; at < first + end; at += kLabelBlock) {
      const std::int64_t stop = std::min(at + kLabelBlock, first + end);
      const std::uint8_t* const block = labels(at, stop, scratch) - at;
      for (std::int64_t i = at; i < stop; ++i)
        if (block[i] == label) own = std::min(own, turned(data.times.all[i].time));
    }
    for (std::int64_t seen = least; own < seen && !least.compare_exchange_weak(seen, own);) {
    }
  });
  const std::int64_t found = scope.ranks.all_min(least);
  return found == kNone ? std::nullopt : std::optional(turned(found));
}

// The ratings from the date on, of all ranks. Times that are too late for seconds since 1970 are
// taken for milliseconds or microseconds.
std::int64_t ratings_from(const std::string& date, const Dataset& data, const Scope& scope,
                          ThreadTeam& team) {
  constexpr std::int64_t kLatestSeconds = 100'000'000'000;
  const std::int64_t first = earliest(data, scope, all_train(), kTrain, team).value_or(0);
  const std::int64_t last = earliest(data, scope, all_train(), kTrain, team, true).value_or(0);
  std::int64_t unit = 1;
  while (last / unit > kLatestSeconds) unit *= 1000;
  const std::int64_t cut = *date_of(date) * unit;
  const std::int64_t own = scope.first_rating();
  const auto times = data.times.all.part(own, own + scope.ratings());
  const std::int64_t count = scope.sum(std::count_if(
      times.begin(), times.end(), [&](const RatingTime& of) { return of.time >= cut; }));
  if (first < cut && cut <= last) return count;
  fail(ErrorKind::data,
       "{}: by_time \"{}\" leaves no rating to {} on: the times of the file reach from {} to {}",
       data.info.name, date, first < cut ? "test" : "train", first, last);
}

void draw_test(DrawnLabels& labels, const Dataset& data, const SplitSpec& spec, const Scope& scope,
               ThreadTeam& team) {
  switch (spec.kind) {
    case SplitSpec::Kind::holdout:
      labels.draw(share_of(spec.test_fraction), Keys(spec.seed, Purpose::test), kTest);
      break;
    case SplitSpec::Kind::folds:
      labels.draw_between(end_of_fold(spec.fold - 1, spec.folds),
                          end_of_fold(spec.fold, spec.folds), Keys(spec.seed, Purpose::folds));
      break;
    case SplitSpec::Kind::by_time:
      labels.draw(
          [&](std::int64_t n) {
            return spec.cut_date.empty() ? n - share_of(spec.before_cut)(n)
                                         : ratings_from(spec.cut_date, data, scope, team);
          },
          latest_first(data), kTest);
      break;
    default:  // written already
      break;
  }
}

// The label of each rating of the scope. `written` lives as long.
LabelsOf labels_in(const Dataset& data, const Scope& scope, const Labels& written,
                   const SplitSpec& spec, ThreadTeam& team) {
  LabelsOf start =
      spec.draws_ratings() ? all_train() : stored_labels(written, scope.first_rating());
  if (spec.kind == SplitSpec::Kind::given) start = given_labels(data, spec, scope, team);
  DrawnLabels labels(scope, team, std::move(start));
  draw_test(labels, data, spec, scope, team);
  if (spec.validation_fraction == 0 || spec.kind == SplitSpec::Kind::users ||
      spec.kind == SplitSpec::Kind::leave_last)
    return labels.take();
  if (spec.kind == SplitSpec::Kind::by_time)
    labels.draw(share_of(spec.validation_fraction), latest_first(data), kValidation);
  else
    labels.draw(share_of(spec.validation_fraction), Keys(spec.seed, Purpose::validation),
                kValidation);
  return labels.take();
}

// Of `leave_last`, with the label of each rating of the scope: do times tell what came last, and
// does nothing later train?
void warn_of_last(const Dataset& data, const Scope& scope, const Labels& labels, ThreadTeam& team,
                  std::vector<std::string>& warnings) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  const std::int64_t first = scope.first_rating();
  const auto trained = earliest(data, scope, stored_labels(labels, first), kTrain, team, true);
  const auto offsets = data.ratings.user_offsets();
  std::atomic<std::int64_t> users{0}, tied{0}, early{0};
  team.for_chunks(scope.end_user - scope.first_user, kSplitUsers, [&](auto begin, auto end) {
    for (std::int64_t u = scope.first_user + begin; u < scope.first_user + end; ++u) {
      std::int64_t before = -kNone, test_from = kNone;
      for (std::int64_t i = offsets[u]; i < offsets[u + 1]; ++i) {
        const std::int64_t time = data.times.all[i].time;
        if (labels[i - first] == kTest)
          test_from = std::min(test_from, time);
        else
          before = std::max(before, time);
      }
      users += test_from != kNone ? 1 : 0;
      tied += before == test_from ? 1 : 0;
      early += test_from < trained.value_or(-kNone) ? 1 : 0;
    }
  });
  const std::int64_t all = scope.sum(users);
  const auto add = [&](std::int64_t own, fmt::format_string<std::string, std::string> text) {
    if (const std::int64_t found = scope.sum(own); found > 0)
      warnings.push_back(fmt::format(text, with_commas(found), with_commas(all)));
  };
  add(tied,
      "leave_last: the last ratings of {} of {} users have the time of one that is not in the test "
      "part; their order in the file decides which is the last");
  add(early,
      "leave_last: ratings later than the test ratings of {} of {} users are trained on; by_time "
      "cuts all users at one time");
}

// Seconds and milliseconds in one column.
void warn_of_units(const Dataset& data, const Scope& scope, ThreadTeam& team,
                   std::vector<std::string>& warnings) {
  constexpr std::int64_t kAfterCounting = 100'000'000, kFactor = 100;  // a clock, not places
  const auto least = earliest(data, scope, all_train(), kTrain, team);
  const auto most = earliest(data, scope, all_train(), kTrain, team, true);
  if (least.value_or(0) < kAfterCounting || *most / kFactor < *least) return;
  warnings.push_back(fmt::format(
      "the times reach from {} to {}: are seconds and milliseconds in one column?", *least, *most));
}

bool has_row(const Ratings& ratings, std::int64_t user) {
  return ratings.user_offsets()[user + 1] > ratings.user_offsets()[user];
}

using Flags = AlignedVector<std::uint8_t>;

// Items that any rank has flagged.
Flags flags_of_all(const Flags& own, Communicator& ranks) {
  const std::int64_t n = std::ssize(own);
  PartOffsets parts = {0};
  for (int rank = 0; rank < ranks.size(); ++rank) parts.push_back(parts.back() + n);
  Flags of_ranks(parts.back());
  std::copy(own.begin(), own.end(), of_ranks.begin() + parts[ranks.rank()]);
  ranks.all_gather(std::span(of_ranks), parts);
  Flags all = own;
  for (const std::int64_t part : View(parts).part(0, ranks.size()))
    for (std::int64_t i = 0; i < n; ++i) all[i] |= of_ranks[part + i];
  return all;
}

// By the labels that this kind of split gives.
std::vector<WantedPart> parts_of(const SplitSpec& spec, UsersColumn users) {
  std::vector<WantedPart> parts = {{kTrain, users}, {kTest, users}};
  if (spec.has_validation() || spec.kind == SplitSpec::Kind::given)
    parts.push_back({kValidation, users});
  if (spec.kind == SplitSpec::Kind::users) parts.push_back({kFoldIn, users});
  return parts;
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

void count_cold(Split& split, const Flags& item_trained, const Flags& item_tested,
                const Scope& scope, ThreadTeam& team) {
  std::atomic<std::int64_t> cold_users{0}, cold_ratings{0};
  const std::int64_t first = scope.first_user;
  const auto offsets = split.test.user_offsets();
  const auto items = split.test.items();
  team.for_chunks(scope.end_user - first, kSplitUsers, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t users = 0, ratings = 0;
    for (std::int64_t u = first + begin; u < first + end; ++u) {
      const bool cold = !has_row(split.train, u);
      users += cold && has_row(split.test, u) ? 1 : 0;
      for (std::int64_t i = offsets[u]; i < offsets[u + 1]; ++i)
        ratings += cold || item_trained[items[i]] == 0 ? 1 : 0;
    }
    cold_users += users;
    cold_ratings += ratings;
  });
  split.cold_users = scope.sum(cold_users);
  split.cold_ratings = scope.sum(cold_ratings);
  for (std::int64_t i = 0; i < std::ssize(item_tested); ++i)
    split.cold_items += item_tested[i] != 0 && item_trained[i] == 0 ? 1 : 0;
}

Split cut_parts(const Dataset& data, const SplitSpec& spec, const Scope& scope, Originals originals,
                UsersColumn users_column, ThreadTeam& team) {
  check(data, spec);
  const auto wanted = parts_of(spec, users_column);
  Split split;
  Flags item_trained, item_tested;
  {
    const Labels written = written_labels(data, spec, scope, team);
    const LabelsOf labels = labels_in(data, scope, written, spec, team);
    if (spec.kind == SplitSpec::Kind::by_time) {
      split.test_from = earliest(data, scope, labels, kTest, team);
      split.validation_from = earliest(data, scope, labels, kValidation, team);
    }
    if (spec.kind == SplitSpec::Kind::leave_last)
      warn_of_last(data, scope, written, team, split.warnings);
    if (spec.needs_times()) warn_of_units(data, scope, team, split.warnings);
    scope.ranks.agree([&] {
      // Copies the ids: the parts do not keep all ratings alive.
      const SharedIds ids = copy_ids(data.ratings, team);
      auto parts = select_parts(data.ratings, {scope.first_user, scope.end_user}, ids, labels,
                                wanted, team, originals, data.unread.get());
      split.validation = split.fold_in = no_ratings_of(ids);
      for (std::size_t k = 0; k < wanted.size(); ++k)
        part_of(split, wanted[k].label) = std::move(parts[k].ratings);
      item_trained = std::move(parts[0].item_rated);
      item_tested = std::move(parts[1].item_rated);
    });
  }
  if (data.unread) data.unread->check(scope.ranks);
  if (scope.sum(split.train.nnz()) == 0)
    fail(ErrorKind::data, "{}: the split leaves no rating to train on", data.info.name);
  count_cold(split, flags_of_all(item_trained, scope.ranks), flags_of_all(item_tested, scope.ranks),
             scope, team);
  return split;
}

Split split_of(const Dataset& data, const SplitSpec& spec, Originals originals, int threads,
               UsersColumn users_column) {
  ThreadTeam team(threads);
  Communicator self;
  const Scope scope(data.ratings, {0, data.ratings.n_users()}, self);
  return cut_parts(data, spec, scope, originals, users_column, team);
}

Flags flags_of_items(const Ratings& part) {
  Flags flags(part.n_items());
  for (const auto item : part.items()) flags[item] = 1;
  return flags;
}

AlignedVector<std::int64_t> item_offsets_of_all(const Ratings& own, Communicator& ranks,
                                                ThreadTeam& team) {
  AlignedVector<std::int64_t> offsets = key_offsets(own.items(), own.n_items(), team);
  ranks.all_sum(std::span<std::int64_t>(offsets));  // offsets of all ranks are sums of each rank's
  return offsets;
}

RatingSlice train_slice(const Ratings& train, const PartOffsets& users, Communicator& ranks,
                        ThreadTeam& team) {
  RatingSlice slice;
  slice.users = users;
  slice.user_offsets = offsets_of_all(train.user_offsets(), users, ranks, team);
  slice.item_offsets = item_offsets_of_all(train, ranks, team);
  slice.own_items = train.items();
  slice.own_values = train.values();
  slice.among = train;
  return slice;
}

PartOffsets parts_of(std::int64_t own, Communicator& ranks) {
  PartOffsets parts = {0};
  for (const std::int64_t count : ranks.all_numbers(own)) parts.push_back(parts.back() + count);
  return parts;
}

}  // namespace

void count_cold(Split& split, ThreadTeam& team) {
  Communicator self;
  const Scope scope(split.train, {0, split.train.n_users()}, self);
  split.cold_items = 0;
  count_cold(split, flags_of_items(split.train), flags_of_items(split.test), scope, team);
}

PartSizes sizes_of(const Split& split) {
  return {split.train.nnz(), split.test.nnz(), split.validation.nnz(), split.fold_in.nnz()};
}

SplitSlice make_split_slice(Dataset data, const SplitSpec& spec, const PartOffsets& users,
                            Communicator& ranks, int threads, UsersColumn users_column) {
  std::optional<ThreadTeam> threads_of_all;
  ranks.agree([&] { threads_of_all.emplace(threads); });
  ThreadTeam& team = *threads_of_all;
  SplitSlice slice;
  {
    const Scope scope(data.ratings, users, ranks);
    slice.split = cut_parts(data, spec, scope, Originals::consumed, users_column, team);
    slice.train = train_slice(slice.split.train, users, ranks, team);
  }
  data = {};
  slice.test_parts = parts_of(slice.split.test.nnz(), ranks);
  slice.validation_parts = parts_of(slice.split.validation.nnz(), ranks);
  slice.sizes = {slice.train.nnz(), slice.test_parts.back(), slice.validation_parts.back(),
                 parts_of(slice.split.fold_in.nnz(), ranks).back()};
  slice.facts = facts_of(slice.train, ranks, team);
  slice.train.mean = slice.facts.mean;
  return slice;
}

Split make_split(const Dataset& data, const SplitSpec& spec, int threads,
                 UsersColumn users_column) {
  return split_of(data, spec, Originals::kept, threads, users_column);
}

Split make_split_consuming(Dataset data, const SplitSpec& spec, int threads,
                           UsersColumn users_column) {
  return split_of(data, spec, Originals::consumed, threads, users_column);
}

}  // namespace mf
