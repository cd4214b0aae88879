// The table at the end of a run.
#pragma once

#include <string>

#include "base/terminal.hpp"
#include "harness/experiment/spec.hpp"

namespace mf {

// Medians over seeds from the result files, one line an algorithm and data set: quality and times,
// to the target if the spec names one. No line is wider than `room`.
std::string summary_table(const std::string& folder, const Spec& spec,
                          std::size_t room = kAnyWidth);

}  // namespace mf
