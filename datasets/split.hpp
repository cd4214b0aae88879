// Train, test and optional validation parts. The harness owns the split; an algorithm sees train
// only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "datasets/ratings/dataset.hpp"

namespace mf {

struct SplitSpec {
  enum class Kind { holdout, leave_out, users, given };
  Kind kind = Kind::holdout;
  double test_fraction = 0.2;  // holdout: exactly round(fraction * nnz) ratings, drawn uniformly
  int leave_out = 1;           // leave_out: k random ratings of each user with more than k
  // users (strong generalization): exactly round(fraction * n) of the n users with two or more
  // ratings are held out whole. Of a held-out user's ratings, round(fold_in * count), at least
  // one and not all, are the history; the rest is the test part.
  double user_fraction = 0.1;
  double fold_in = 0.8;
  // Of what is left for training; for `users`, of the users with two or more ratings that are left:
  // a second group, cut in the same way.
  double validation_fraction = 0;
  std::uint64_t seed = 1;

  Json to_json() const;
};

struct Split {
  Ratings train;
  Ratings test;
  Ratings validation;  // empty where none was asked for
  // Histories of the held-out users, those of the validation part's as well: what a model may see
  // of them once it is trained. Over the same users and items as train, in which their rows are
  // empty. Without ratings where no user is held out.
  Ratings fold_in;
  // Cold: no rating in train. Counted over those that occur in test.
  std::int64_t cold_users = 0;  // users of test ratings without a train rating
  std::int64_t cold_items = 0;
  std::int64_t cold_ratings = 0;  // test ratings whose user or item is cold
};

// Deterministic in (data, spec); the same for any number of threads. The parts are copies: they
// need no array of `data`.
Split make_split(const Dataset& data, const SplitSpec& spec, int threads);

// The same, of ratings that nobody else has and that are not needed any more: their memory goes
// back to the system while the parts grow, so that there are never two copies. The ratings of every
// other Dataset that shares the memory are undefined afterwards.
Split make_split_consuming(Dataset data, const SplitSpec& spec, int threads);

}  // namespace mf
