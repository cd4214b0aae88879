// The end of a run, and of a race.
#pragma once

#include <string>

#include "base/terminal.hpp"
#include "harness/experiment/spec.hpp"

namespace mf {

// Medians over seeds from the result files, one line an algorithm and data set: quality and times,
// to the target if the spec names one. No line is wider than `room`.
std::string summary_table(const std::string& folder, const Spec& spec,
                          std::size_t room = kAnyWidth);

// Who is first and by how much, and who ends lowest, a line a data set: "fpsgd, RMSE 0.9 on ml-1m
// look-alike in 0.41 s; 2.3 x as fast as hogwild, the next; lowest at the end: hogwild, test RMSE
// 0.8911". It compares medians over the seeds: of the answer times to the spec's target, and of the
// headlines. It has no factor if other programs used part of the machine while the first two ran.
std::string winners_text(const std::string& folder, const Spec& spec);

}  // namespace mf
