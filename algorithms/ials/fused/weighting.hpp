// How the weights of the pairs enter the kernels of ials_fused, which take fp16 words.
//
// In the variables of whitening.hpp the system of a row is, divided by k,
//
//   (s^2 / k I + sum v theta'' theta''^T) z = sum t theta'',     v = w / k,  t = (1 + w) / (k unit)
//   x = unit T^T z
//
// If all weights are equal, k is the weight: v = 1, and the system is one of als_fused, with
// ratings t. Otherwise k is a power of two, unit is 1 and t = v + beside.
#pragma once

#include "algorithms/core/observed.hpp"
#include "base/host_device.hpp"

namespace mf::ials {

struct Weighting {
  bool uniform = false;
  double k = 1;
  double unit = 1;

  // The entry of a pair of weight w: t if all weights are equal, else v.
  MF_HD double entry(double w) const { return uniform ? (1 + w) / (k * unit) : w / k; }
  double beside() const { return uniform ? 0 : 1 / k; }  // a number of fp16
};

// Beyond it 1 / k has no place in fp16 beside the weights.
inline constexpr double kLargestWeight = 1 << 25;

// Below it a square of scales over k is beyond fp32.
inline constexpr double kSmallestWeight = 0x1p-60;

// For weights w > 0, or none. Throws Error(data), with the remedy, if one is beyond kLargestWeight,
// or all are below kSmallestWeight.
Weighting weighting_of(const WeightRange& weights);

}  // namespace mf::ials
