#include "algorithms/ials/fused/weighting.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace mf::ials {
namespace {

// v is at most 32 then: A's part and b of a row of a million such pairs, in CG to the fourth power
// and the square, stay in fp32; and v down to 1 / 500,000 of it is a normal number of fp16.
constexpr double kLargest = 32;
constexpr double kSmallestScale = 1.0 / 1024;  // so that 1 / k is in fp16

}  // namespace

Weighting weighting_of(const WeightRange& weights) {
  if (weights.most == 0) return {true, 1, 1};
  const double largest = weights.most;
  if (largest > kLargestWeight) {
    fail(ErrorKind::data,
         "ials_fused: found the weight {} (alpha times a value); expected at most {}, where fp16 "
         "and the solver's sums are safe; lower alpha, scale the values, or use ials",
         largest, kLargestWeight);
  }
  if (largest < kSmallestWeight) {
    fail(
        ErrorKind::data,
        "ials_fused: found weights (alpha times a value) of at most {}; expected {} or more, where "
        "fp32 has their quotients; raise alpha, scale the values, or use ials",
        largest, kSmallestWeight);
  }
  if (weights.least == weights.most) {
    const double ratio = (1 + largest) / largest;
    return {true, largest, std::exp2(std::floor(std::log2(ratio)))};
  }
  const double k = std::exp2(std::ceil(std::log2(largest / kLargest)));
  return {false, std::max(k, kSmallestScale), 1};
}

}  // namespace mf::ials
