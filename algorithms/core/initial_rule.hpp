// The elements that factors start from, counter-based: each row has its own stream, (seed, row), so
// that host and device make the same numbers in any order. Light: kernels include it.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "base/rng.hpp"

namespace mf {

enum class InitKind {
  normal,   // N(0, scale^2); the default of the biased model, scale 0.1
  uniform,  // products start at the mean mu, see initial_model(); the default of the plain model
  normal_over_factors,  // N(0, scale^2) / f, as cu2rec's paper starts; scale 1 there
};

// Elements sign (low + width u), u uniform in [0, 1).
struct UniformRange {
  double low = 0;
  double width = 0;
  double sign = 1;
};

// For one side, users or items.
struct InitialRows {
  InitKind kind = InitKind::normal;
  double scale = 0.1;
  std::uint64_t seed = 1;
  std::uint64_t stream = 0;  // of row 0
  std::int32_t factors = 0;
  UniformRange range;  // of InitKind::uniform

  MF_HD Rng row(std::int64_t number) const {
    return Rng(seed, stream + static_cast<std::uint64_t>(number));
  }
  // The next of the row: to be called for its elements in order.
  MF_HD float element(Rng& of_row) const {
    if (kind == InitKind::uniform) {
      return static_cast<float>(range.sign * (range.low + range.width * of_row.uniform()));
    }
    const double drawn = scale * of_row.normal();
    return static_cast<float>(kind == InitKind::normal ? drawn : drawn / factors);
  }
};

}  // namespace mf
