// What a case asks for, and what neighbouring cases of a session have in common, so that it is
// kept.
#pragma once

#include <span>
#include <vector>

#include "datasets/ratings/ratings.hpp"
#include "harness/experiment/spec.hpp"

namespace mf {

bool needs_train_errors(const Case& item);  // asked for, or watched by a rule
bool needs_device(const Case& item);
bool has_own_process(const Case& item);  // that mfbench starts (core/foreign.hpp)
bool repeats_epochs(const Case& item);   // ForeignInfo::repeats_epochs

// Whether a case has all of its ratings on a device, where they can stay for the next one.
bool trains_on_one_device(const Case& item);

// Whether a process of the case sends its ratings to a device.
bool uploads_ratings(const Case& item);

// The column of users of the ratings of a split, which a device has by rows. Evaluations of the
// training ratings and pairwise methods read it.
UsersColumn users_column(const Case& item);

// Needs of the next cases.
struct DoneAgain {
  bool cut = false;          // one of the first that have its data set cuts it in another way
  bool trained = false;      // it and one of the first that have its split train on one device
  bool handed_over = false;  // one of the first with its split trains in another process
};

// For each of these cases, in the order of their runs.
std::vector<DoneAgain> done_again(std::span<const Case* const> cases);

}  // namespace mf
