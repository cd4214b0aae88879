// A data set cut for a case, and facts of its training part.
#pragma once

#include <memory>
#include <string>

#include "datasets/ratings/dataset.hpp"
#include "datasets/ratings/rating_facts.hpp"
#include "datasets/split/split.hpp"

namespace mf {

// How the ranks of a case hold its ratings.
struct RankData {
  bool slices = false;        // each has the rows of its users; else all are whole on every rank
  std::string why;            // they are not
  bool read_whole = false;    // each had to read or make all of them first: no cache file for all
  bool all_evaluate = false;  // each its blocks of the test part; else rank 0 all of it
};

struct CaseData {
  std::shared_ptr<const DatasetInfo> info;
  std::shared_ptr<const Split> split;
  std::shared_ptr<const RatingFacts> facts;  // of split->train; of slices, of all ranks
  PartSizes sizes;                           // of slices, over all ranks
  std::int64_t unobserved = 0;  // of implicit feedback: pairs of 0, which are in no part
  // For several ranks that hold slices: each one's share of the training part; split->train has the
  // own rows. This rank evaluates the other parts of `split`. Else null.
  std::shared_ptr<const RatingSlice> slice;
  PartOffsets test_parts, validation_parts;  // of slices: starts of each rank's
  RankData ranks;
  // Parts of the time on the load clock; empty if an earlier case had the same.
  LoadSeconds load_parts;
  double split_s = 0;
  bool from_cache = false;  // whether the data set came from mfbench's binary cache
};

}  // namespace mf
