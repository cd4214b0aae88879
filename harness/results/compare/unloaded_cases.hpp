// Runs that failed before their data were loaded: their headers name the data set alone.
#pragma once

#include <vector>

#include "harness/results/compare/compared_case.hpp"

namespace mf {

// Gives each of them the configuration, and where there is a run of the same seed the repeat, of
// the runs that agree with it in everything but what is only known of loaded data: the content of
// the data set and its split. Nothing where there are none, or several kinds of them.
void place_unloaded(const std::vector<ComparedCase*>& cases);

}  // namespace mf
