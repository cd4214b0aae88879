// Names for configurations in a table: short, and different from each other.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/results/compare/compared_case.hpp"

namespace mf {

// A text as it is, all else as JSON.
std::string plain_text(const Json& value);

// "fpsgd factors=50 reg=0.05 on ml-1m": the factors, and what differs among the configurations of
// an algorithm on one data set. A name loses its section (params.reg) where that stays clear.
class CaseLabels {
 public:
  explicit CaseLabels(const std::vector<const ComparedCase*>& cases);

  std::string of(const Configuration& configuration) const;

 private:
  std::map<std::string, std::set<std::string>> shown_;  // by algorithm
};

}  // namespace mf
