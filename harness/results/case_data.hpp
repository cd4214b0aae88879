// A data set cut for a case, and the seconds it took.
#pragma once

#include <memory>

#include "datasets/ratings/dataset.hpp"
#include "datasets/split.hpp"

namespace mf {

struct CaseData {
  std::shared_ptr<const Dataset> dataset;
  std::shared_ptr<const Split> split;
  double load_s = 0;
};

}  // namespace mf
