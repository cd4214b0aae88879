// The update rule, once for the kernels and for the reference. Every multiply-add is written as
// one, so that host and device round alike.
//
//   e    = r - (mu + b_u + c_i + p_u . q_i)
//   p_u += rate (e q_i - reg_p p_u)      q_i += rate (e p_u - reg_q q_i)
//   b_u += rate (e - reg_b b_u)          c_i += rate (e - reg_c c_i)        all with old values
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"

namespace mf::cu2rec {

// Hyper-parameters of an iteration; the kernels hold them in constant memory. A shrink is
// rate * regularizer.
struct Hyper {
  float rate;
  float mean;
  float shrink_p;
  float shrink_q;
  float shrink_user_bias;
  float shrink_item_bias;
};

MF_HD float rating_error(const Hyper& hyper, float rating, float user_bias, float item_bias,
                         float dot) {
  return rating - (((hyper.mean + user_bias) + item_bias) + dot);
}

// x + rate (e y - reg x), with gain = rate e and shrink = rate reg.
MF_HD float step(float x, float y, float gain, float shrink) {
  return fmaf(gain, y, fmaf(-shrink, x, x));
}

// The same as what is added to x, for atomic updates.
MF_HD float gradient(float x, float y, float gain, float shrink) {
  return fmaf(gain, y, -shrink * x);
}

// User of thread t in an iteration with this offset; t and offset in [0, n_users).
MF_HD std::int32_t strided_user(std::int32_t t, std::int32_t offset, std::int32_t n_users) {
  const std::int64_t user = std::int64_t{t} + offset;
  return static_cast<std::int32_t>(user < n_users ? user : user - n_users);
}

// (stride * iteration) mod n_users, without overflow for any iteration.
MF_HD std::int32_t stride_offset(std::int64_t stride, std::int64_t iteration,
                                 std::int32_t n_users) {
  return static_cast<std::int32_t>((stride % n_users) * (iteration % n_users) % n_users);
}

}  // namespace mf::cu2rec
