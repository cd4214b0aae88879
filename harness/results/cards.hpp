// Results of several cards: the times of each configuration on every card, and how many times as
// fast it is there as on one of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json/json_fwd.hpp"
#include "harness/results/compare/sides.hpp"

namespace mf {

struct CardsOptions {
  std::string over;                           // a card, by a part of its name; empty: the first
  std::optional<ComparedSide> baseline = {};  // an algorithm, on the same card
  std::optional<TargetSpec> target = {};      // instead of the one that the results name
  std::vector<std::string> ignored = {};      // as in compare_results()
};

// docs/spec.md has the keys. Configurations are one if they agree in all but seeds and the name of
// the data set, whose content counts; ratios are compare_times(). Throws Error(usage) as
// compare_results(), for an `over` that is not one card, and for a baseline that no case is.
Json compare_cards(const std::vector<std::string>& folders, const CardsOptions& options);

std::string cards_text(const Json& compared);

}  // namespace mf
