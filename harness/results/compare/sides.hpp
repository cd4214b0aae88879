// Two algorithms of one run beside each other: which cases are on a side, and which of their
// settings may differ.
#pragma once

#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/results/compare/compared_folder.hpp"

namespace mf {

// "als_cpu solver=cg": an algorithm, and settings if it has several configurations.
struct ComparedSide {
  std::string text;
  std::string algorithm;
  std::vector<std::pair<std::string, std::string>> settings;
};

// Throws Error(usage) for a word behind the algorithm that is not a setting; its message names the
// option.
ComparedSide parse_side(const std::string& text, const std::string& option = "--between");

bool is_of(const Configuration& configuration, const ComparedSide& side);

using ComparedSides = std::array<ComparedSide, 2>;

// Whether a case belongs to the side, header by header.
class SideFilter {
 public:
  explicit SideFilter(const ComparedSide& side) : side_(&side) {}

  // A file that does not name its algorithm is kept, too.
  bool keeps(const Json& header);
  // After the last. Throws Error(usage) if no case fits; it names the existing ones.
  void check(const std::string& folder) const;

 private:
  const ComparedSide* side_;
  std::set<std::string> known_;     // algorithms
  std::set<Configuration> others_;  // of the side's, with other settings
  bool any_fits_ = false;
};

// Throws Error(usage) if a file is on both sides.
void refuse_shared(const ComparedFolder& first, const ComparedFolder& second,
                   const ComparedSides& sides);

// Makes the two sides one configuration, data set by data set: the algorithm is common to both, and
// a setting with one value on each side may differ, and is taken out. One that is swept has to
// agree. Throws Error(usage) if a swept setting has no value in common.
void set_beside(ComparedFolder& first, ComparedFolder& second, const ComparedSides& sides);

// "params.reg 0.05 against 0.1": settings that were taken out of both.
std::string differing_text(const ComparedCase& first, const ComparedCase& second);

}  // namespace mf
