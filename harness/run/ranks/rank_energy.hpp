// The energy of a case of several devices: the sum over its ranks.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/ranks/communicator.hpp"

namespace mf {

using RankJoules = std::vector<std::optional<double>>;  // by rank; nothing: its driver does not say

// Of every rank, on all. All ranks together.
inline RankJoules joules_of_ranks(std::optional<double> own, Communicator& ranks) {
  std::vector<double> joules(ranks.size());
  joules[ranks.rank()] = own.value_or(std::numeric_limits<double>::quiet_NaN());
  PartOffsets one_each;
  for (int rank = 0; rank <= ranks.size(); ++rank) one_each.push_back(rank);
  ranks.all_gather(std::span(joules), one_each);
  RankJoules all;
  for (const double one : joules) {
    all.push_back(std::isnan(one) ? std::nullopt : std::optional(one));
  }
  return all;
}

// Nothing where one of them does not say: a part of it is no energy of the case.
inline std::optional<double> total_joules(const RankJoules& of_ranks) {
  double sum = 0;
  for (const auto& one : of_ranks) {
    if (!one) return std::nullopt;
    sum += *one;
  }
  return sum;
}

}  // namespace mf
