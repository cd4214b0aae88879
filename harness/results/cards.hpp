// The same work on several cards: how many times as fast each is as one of them.
#pragma once

#include <string>
#include <vector>

#include "base/json/json_fwd.hpp"
#include "harness/results/compare/compare.hpp"

namespace mf {

// The cases of the folders by their cards: of each card but `over` the comparison with it. `over`
// is a part of its name; empty: the first. Data sets go by their content, whatever their names.
// Throws Error(usage) as compare_results(), if `over` is not one card, and if there is only one.
Json compare_cards(const std::vector<std::string>& folders, const std::string& over,
                   const CompareOptions& options);

std::string cards_text(const Json& compared);

}  // namespace mf
