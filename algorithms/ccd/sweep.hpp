// The order of the passes of one factor, for both algorithms:
//
//   separate, as the paper     R^ = R + u v^T;  T times u, then v from R^;  R = R^ - u v^T
//   fused                      the pass that sums for the first u also makes R^ of this factor from
//                              the one before: + old u v^T - u' v'^T; so does the first
//                              for v. Between factors R lacks the product of the last one done.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace mf::ccd {

enum class Residual { separate, fused };
enum class Half { users, items };

struct Sweep {
  int inner;  // T
  Residual residual;
};

inline constexpr int kNone = -1;

// `held` is the factor whose product is not subtracted from R, kNone at first. Steps has
//   change(half, k, sign)      that side's R += sign u_k v_k^T
//   exchange(half, k, held)    R += u_k v_k^T - u_held v_held^T as update begins (users before
//                              items; v_k and v_held are from before the items' step, u_k from
//                              before the users'), then as solve
//   solve(half, k)             the side's vector k from its R
template <class Steps>
void sweep_factor(const Sweep& sweep, int k, int& held, Steps& steps) {
  const bool separate = sweep.residual == Residual::separate;
  if (separate) {
    for (const Half half : {Half::users, Half::items}) steps.change(half, k, 1.0F);
  }
  const bool exchanges = !separate && held != k;
  for (int t = 0; t < sweep.inner; ++t) {
    for (const Half half : {Half::users, Half::items}) {
      exchanges&& t == 0 ? steps.exchange(half, k, held) : steps.solve(half, k);
    }
  }
  if (separate) {
    for (const Half half : {Half::users, Half::items}) steps.change(half, k, -1.0F);
  } else {
    held = k;
  }
}

// lambda of a row, the same on host and device.
// `by_ratings`: reg for each of the row's ratings (RegScale::rows), else reg.
MF_HD float row_shrink(double reg, bool by_ratings, std::int64_t ratings) {
  return static_cast<float>(by_ratings ? reg * static_cast<double>(ratings) : reg);
}

}  // namespace mf::ccd
