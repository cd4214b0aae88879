// Train, test and optional validation parts. The harness owns the split; an algorithm sees train
// only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json_fwd.hpp"
#include "base/ranks/communicator.hpp"
#include "datasets/ratings/dataset.hpp"
#include "datasets/ratings/rating_facts.hpp"
#include "datasets/ratings/rating_slice.hpp"

namespace mf {

struct SplitSpec {
  enum class Kind { holdout, leave_out, folds, by_time, leave_last, users, given };
  Kind kind = Kind::holdout;
  double test_fraction = 0.2;  // holdout: exactly round(fraction * nnz) ratings, drawn uniformly
  int leave_out = 1;           // leave_out: k random ratings of each user with more than k
  // folds: every rating is of one of k folds, drawn uniformly, of which none has two ratings more
  // than another. This one is the test part.
  int folds = 5, fold = 1;  // fold from 1 to folds
  // by_time: the first round(share * nnz) ratings in the order of their times are before the cut,
  // the later ones are the test part. Or ratings from a date on, if one is given.
  double before_cut = 0.8;
  std::string cut_date = "";
  int leave_last = 1;  // leave_last: the k last ratings of each user with more than k
  // users (strong generalization): exactly round(fraction * n) of the n users with two or more
  // ratings are held out whole. The history is round(fold_in * count) of a held-out user's ratings,
  // at least one and not all; the rest is the test part.
  double user_fraction = 0.1;
  double fold_in = 0.8;
  // A share of the rest for training; for `by_time`, the latest of it; for `users`, a share of the
  // users left with two or more ratings: a second group, cut in the same way.
  double validation_fraction = 0;
  // leave_last: the last so many of each user's remaining ratings, if the user has more.
  int validation_last = 0;
  std::uint64_t seed = 1;

  // Ratings are drawn among all; other kinds cut rows, or take given parts.
  bool draws_ratings() const {
    return kind == Kind::holdout || kind == Kind::folds || kind == Kind::by_time;
  }
  bool needs_times() const { return kind == Kind::by_time || kind == Kind::leave_last; }
  bool has_validation() const { return validation_fraction > 0 || validation_last > 0; }
  Json to_json() const;
};

struct Split {
  Ratings train;
  Ratings test;
  Ratings validation;  // empty if not asked for
  // Histories of the held-out users, the validation part's included, which a trained model may see.
  // Over the same users and items as train, in which their rows are empty. Without ratings if no
  // user is held out.
  Ratings fold_in;
  // Cold: no rating in train. Counted over users and items in test.
  std::int64_t cold_users = 0;  // users of test ratings without a train rating
  std::int64_t cold_items = 0;
  std::int64_t cold_ratings = 0;  // test ratings whose user or item is cold
  // by_time: the earliest time of the part, over all ranks; of a part with ratings.
  std::optional<std::int64_t> test_from, validation_from;
  std::vector<std::string> warnings;  // of a split by time: what its parts may not mean
};

// Deterministic in (data, spec); the same for any number of threads. The parts are copies: they
// need no array of `data`. `users_column`: of each part.
Split make_split(const Dataset& data, const SplitSpec& spec, int threads,
                 UsersColumn users_column = UsersColumn::made);

// The same, of ratings that are not shared and not needed any more: their memory goes
// back to the system while the parts grow, so that there are never two copies. The ratings of every
// other Dataset that shares the memory are undefined afterwards.
Split make_split_consuming(Dataset data, const SplitSpec& spec, int threads,
                           UsersColumn users_column = UsersColumn::made);

// Counts the cold anew after parts have lost ratings.
void count_cold(Split& split, ThreadTeam& team);

// The ratings of each part of a split, over all ranks.
struct PartSizes {
  std::int64_t train = 0, test = 0, validation = 0, fold_in = 0;
  std::int64_t all() const { return train + test + validation + fold_in; }
};
PartSizes sizes_of(const Split& split);

// This rank's rows of a split, bit for bit as one process makes them.
struct SplitSlice {
  Split split;      // the rows of other ranks are empty; the cold are counted over all ranks
  PartSizes sizes;  // over all ranks
  PartOffsets test_parts, validation_parts;  // start of each rank's part among all
  RatingSlice train;                         // views into split.train
  RatingFacts facts;                         // of the training part of all ranks
};

// `data` has all offsets and ids, and the ratings of the rows [users[r], users[r + 1]) of rank r;
// others are not read, and the memory of these is freed as the parts grow. Every kind of split is
// shared: the ranks agree on the largest key drawn, and decide all else row by row. All ranks
// together; throws on all if one of them fails.
SplitSlice make_split_slice(Dataset data, const SplitSpec& spec, const PartOffsets& users,
                            Communicator& ranks, int threads,
                            UsersColumn users_column = UsersColumn::made);

}  // namespace mf
