// The table at the end of a run.
#pragma once

#include <string>

#include "harness/spec/spec.hpp"

namespace mf {

// Medians over seeds, one line an algorithm and data set, from the result files.
std::string summary_table(const std::string& folder, const Spec& spec);

}  // namespace mf
