// The end of a run, and of a race.
#pragma once

#include <string>

#include "base/terminal.hpp"
#include "harness/experiment/spec.hpp"

namespace mf {

// Medians over seeds from the result files, one line an algorithm and data set: quality and times,
// to the target if the spec names one. No line is wider than `room`. `explain`: and the meaning of
// all columns and marks.
std::string summary_table(const std::string& folder, const Spec& spec, std::size_t room = kAnyWidth,
                          bool explain = true);

// The winner of each data set (winner.hpp) at the spec's target, or else at the first of
// target_levels(); of many data sets the first three.
std::string winners_text(const std::string& folder, const Spec& spec);

}  // namespace mf
