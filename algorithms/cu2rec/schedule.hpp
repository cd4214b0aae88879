// Which user a thread serves in an iteration, for kernels and reference alike.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace mf::cu2rec {

struct Iteration {
  std::int64_t number;  // 1 for the first
  std::int32_t offset;  // (stride * number) mod n_users
};

// Without overflow for any number; n_users may be 0.
MF_HD Iteration iteration_at(std::int64_t number, std::int64_t stride, std::int32_t n_users) {
  const std::int64_t m = n_users > 0 ? n_users : 1;
  return {number, static_cast<std::int32_t>((stride % m) * (number % m) % m)};
}

// User of thread t; t and offset in [0, n_users).
MF_HD std::int32_t strided_user(std::int32_t t, std::int32_t offset, std::int32_t n_users) {
  const std::int64_t user = std::int64_t{t} + offset;
  return static_cast<std::int32_t>(user < n_users ? user : user - n_users);
}

}  // namespace mf::cu2rec
