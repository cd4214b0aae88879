// The end of a race: the winner, and by how much.
#pragma once

#include <string>

#include "harness/experiment/spec.hpp"

namespace mf {

// A line a data set: "fpsgd, RMSE 0.9 on ml-1m look-alike in 0.41 s; 2.3 x as fast as hogwild". By
// the answer times to the spec's target, medians over the seeds; "contended" if other programs took
// part of the machine from the first two.
std::string winners_text(const std::string& folder, const Spec& spec);

}  // namespace mf
