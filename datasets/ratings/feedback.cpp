#include "datasets/ratings/feedback.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace mf {

Feedback feedback_of(View<const float> values) {
  constexpr std::size_t kMostStars = 100;
  constexpr float kFewStars = 10;
  const auto is_first = [&](float value) { return value == values[0]; };
  if (std::all_of(values.begin(), values.end(), is_first)) return Feedback::pairs;
  std::array<std::int64_t, kMostStars + 1> counts = {};
  float largest = 0;
  for (const float value : values) {
    if (value < 0 || value != std::floor(value)) return Feedback::stars;
    largest = std::max(largest, value);
    if (value <= float{kMostStars}) ++counts[static_cast<std::size_t>(value)];
  }
  if (largest > float{kMostStars}) return Feedback::counts;
  const bool mostly_ones = std::max_element(counts.begin(), counts.end()) == counts.begin() + 1;
  return largest > kFewStars && mostly_ones ? Feedback::counts : Feedback::stars;
}

}  // namespace mf
