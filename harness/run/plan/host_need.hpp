// The most memory of the host that a case takes, as the system counts it (VmHWM): from loading to
// the end of training. `mfbench plan` prints it, and results have it beside what was measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "algorithms/core/algorithm.hpp"
#include "harness/experiment/spec.hpp"

namespace mf {

inline constexpr double kRatingBytes = 12;  // user, item and value on the host
inline constexpr double kUserBytes = 4;     // of these, the user

// What a case finds of its data, and so what it takes to have them.
enum class DataFrom {
  split_at_hand,    // of the case before it
  ratings_at_hand,  // which an earlier case cut in another way
  cache,
  files,
  generator,
};

struct HostData {
  ProblemShape whole;  // nnz: of all parts
  std::int64_t train_nnz = 0;
  DataFrom from = DataFrom::cache;
  // All ratings stay beside their parts for a later case: while the parts are cut, and after that.
  bool kept = false;
  bool times = false;  // of the ratings: for the split
  // The ratings to which rules are applied, beside what these leave.
  std::optional<ProblemShape> before_rules;
  double source_bytes = 0;    // of the files that are mapped to be read
  double making_bytes = 0;    // beside the ratings while these are made
  double packed_bytes = 0;    // of the training ratings, for the way to a device
  double left_out_bytes = 0;  // users of the training ratings, where no one looks at them
  double program_bytes = 0;   // of this process without data, before it had a device
  double standing_bytes = 0;  // and as the case begins: with what cases before it left for good
  int threads = 1;            // that load and cut
  int slices = 1;             // ranks that have a share of the ratings each
};

struct HostNeed {
  double load = 0;    // while the ratings are read or made
  double cut = 0;     // while the parts are cut
  double train = 0;   // while the case is prepared and trains
  double surely = 0;  // of loading and cutting, what cannot be dropped
  double peak() const { return std::max({load, cut, train}); }
};

HostNeed host_need(const Case& item, const HostData& data);

double whole_bytes(const HostData& data);  // of all ratings, offsets and ids

// What this process holds without data once the case has run: the device's context, libraries and
// the memory for uploads stay.
double left_standing(const Case& item, const HostData& data);

// For this process now.
double resident_bytes();

// As it was when this was asked first: before there were data.
double program_bytes();

}  // namespace mf
