#include "algorithms/core/ranks/exchange_parts.hpp"

#include <algorithm>
#include <iterator>

namespace mf {
namespace {

// For four H200 by NVLink: all-gathers of 4 MiB to 2 GiB take 25 us and their bytes at 300 GB/s
// (docs/several-gpus.md).
constexpr double kLatency = 25e-6;  // seconds
constexpr double kLink = 300e9;     // bytes a second that a rank receives
// Launches of the part's kernels and the end of its longest rows, seconds. An estimate, which needs
// not be good: half or twice of it makes two parts more or less for the shapes of
// exchange_parts_test.cpp, and by this model the half-step less than 1 % longer.
constexpr double kPart = 30e-6;

// A part takes this many times the estimate of the exchange before: both are estimates, and the
// exchange takes room from the solver.
constexpr double kMargin = 1.5;

double received_s(const HalfStep& of) { return of.bytes * (of.ranks - 1) / of.ranks / kLink; }

}  // namespace

double half_step_s(const HalfStep& of, const PartShares& parts) {
  double solved = 0;
  double exchanged = 0;
  for (const double share : parts) {
    solved += kPart + share * of.solve_s;
    exchanged = std::max(exchanged, solved);
    if (of.ranks > 1) exchanged += kLatency + share * received_s(of);
  }
  return exchanged;
}

PartShares shrinking_parts(const HalfStep& of, int parts) {
  const double longest = kMargin * received_s(of);
  const double ratio = longest < of.solve_s ? longest / of.solve_s : 1;
  PartShares shares = {1};
  double sum = 1;
  while (std::ssize(shares) < parts) {
    shares.push_back(shares.back() * ratio);
    sum += shares.back();
  }
  for (double& share : shares) share /= sum;
  return shares;
}

PartShares parts_to_exchange(const HalfStep& of) {
  PartShares best = {1};
  if (of.ranks == 1) return best;
  for (int count = 2; count <= kMostExchangeParts; ++count) {
    const PartShares parts = shrinking_parts(of, count);
    if (half_step_s(of, parts) < half_step_s(of, best)) best = parts;
  }
  return best;
}

}  // namespace mf
