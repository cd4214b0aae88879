// A data set cut for a case, and what was found out about its training part.
#pragma once

#include <memory>

#include "datasets/ratings/dataset.hpp"
#include "datasets/ratings/rating_facts.hpp"
#include "datasets/split.hpp"

namespace mf {

struct CaseData {
  std::shared_ptr<const DatasetInfo> info;
  std::shared_ptr<const Split> split;
  std::shared_ptr<const RatingFacts> facts;  // of split->train
  // Parts of the time on the load clock; nothing where an earlier case had the same.
  LoadSeconds load;
  double split_s = 0;
};

}  // namespace mf
