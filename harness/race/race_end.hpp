// The end of a race: who is first and by how much, and who ends lowest.
#pragma once

#include <string>

#include "harness/experiment/spec.hpp"

namespace mf {

// A line a data set: "fpsgd, RMSE 0.9 on ml-1m look-alike in 0.41 s; 2.3 x as fast as hogwild, the
// next; lowest at the end: hogwild, test RMSE 0.8911". It compares
// medians over the seeds: of the answer times to the spec's target, and of the headlines. It has no
// factor if other programs used part of the machine while the first two ran.
std::string winners_text(const std::string& folder, const Spec& spec);

}  // namespace mf
