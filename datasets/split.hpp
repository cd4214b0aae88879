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
  enum class Kind { holdout, leave_out, given };
  Kind kind = Kind::holdout;
  double test_fraction = 0.2;  // holdout: exactly round(fraction * nnz) ratings, drawn uniformly
  int leave_out = 1;           // leave_out: k random ratings of each user with more than k
  double validation_fraction = 0;  // of what is left for training
  std::uint64_t seed = 1;

  Json to_json() const;
};

struct Split {
  Ratings train;
  Ratings test;
  Ratings validation;  // empty where none was asked for
  // Cold: no rating in train. Counted over those that occur in test.
  std::int64_t cold_users = 0;  // users of test ratings without a train rating
  std::int64_t cold_items = 0;
  std::int64_t cold_ratings = 0;  // test ratings whose user or item is cold
};

// Deterministic in (data, spec); the same for any number of threads.
Split make_split(const Dataset& data, const SplitSpec& spec, int threads);

}  // namespace mf
