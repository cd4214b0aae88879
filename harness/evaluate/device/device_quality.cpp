#include "harness/evaluate/device/device_quality.hpp"

#include <algorithm>

namespace mf {

std::int64_t users_of_tile(std::int64_t n_users, std::int64_t row_bytes) {
  const std::int64_t fit = kScoreBytes / std::max<std::int64_t>(1, row_bytes);
  const std::int64_t whole = fit >= 128 ? fit / 128 * 128 : fit;  // whole tiles of cuBLAS
  return std::clamp<std::int64_t>(whole, 1, std::max<std::int64_t>(1, n_users));
}

}  // namespace mf
