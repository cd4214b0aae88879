#include "algorithms/core/exchange_parts.hpp"

#include <algorithm>

namespace mf {
namespace {

// Of four H200 by NVLink: all-gathers of 4 MiB to 2 GiB take 25 us and their bytes at 300 GB/s
// (docs/several-gpus.md).
constexpr double kLatency = 25e-6;  // seconds
constexpr double kLink = 300e9;     // bytes a second that a rank receives
// Launches of the part's kernels and the end of its longest rows, seconds. An estimate, which needs
// not be good: half or twice of it makes two parts more or less for the shapes of
// exchange_parts_test.cpp, and by this model the half-step less than 1 % longer.
constexpr double kPart = 30e-6;

}  // namespace

double half_step_s(const HalfStep& of, int parts) {
  const double received = of.bytes * (of.ranks - 1) / of.ranks;
  const double solve = of.solve_s / parts + kPart;
  const double exchange = of.ranks > 1 ? kLatency + received / parts / kLink : 0;
  return solve + (parts - 1) * std::max(solve, exchange) + exchange;
}

int parts_to_exchange(const HalfStep& of) {
  int best = 1;
  if (of.ranks == 1) return best;
  for (int parts = 2; parts <= kMostExchangeParts; ++parts) {
    if (half_step_s(of, parts) < half_step_s(of, best)) best = parts;
  }
  return best;
}

}  // namespace mf
