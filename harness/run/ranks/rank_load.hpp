// The data of a case of several ranks, each of which reads and keeps only its share of the ratings.
#pragma once

#include <string>

#include "base/ranks/communicator.hpp"
#include "harness/experiment/spec.hpp"
#include "harness/results/files/case_data.hpp"

namespace mf {

// Why every rank has to hold all ratings of a case, in words; empty: each has its share.
std::string why_whole(const Case& item, bool saves_model);

// Each rank reads the rows of its users and cuts them. If all have the factors after an epoch, each
// keeps its blocks of the test part; else rank 0 gets the whole part. All ranks call this together.
// All throw the same Error, and can run the next case.
CaseData load_slice(const Case& item, Communicator& ranks, int threads);

// The training ratings go: the algorithm has its share.
void drop_training(CaseData& data);

}  // namespace mf
