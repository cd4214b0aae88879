#include "datasets/ratings/feedback.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

namespace mf {
namespace {

constexpr float kMostStars = 100, kFewStars = 10;

}  // namespace

Feedback feedback_of(View<const float> values) {
  std::map<float, std::int64_t> counts;  // of a scale, or the most frequent small ones
  bool whole = true;
  float largest = 0;
  for (const float value : values) {
    whole = whole && value >= 0 && value == std::floor(value);
    largest = std::max(largest, value);
    if (std::abs(value) <= kMostStars && counts.size() < 1000) ++counts[value];
  }
  const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto mode = std::max_element(counts.begin(), counts.end(), by_count);
  const bool one_value =
      std::all_of(values.begin(), values.end(), [&](float value) { return value == values[0]; });
  if (one_value) return Feedback::pairs;
  if (!whole) return Feedback::stars;
  const bool falls = mode != counts.end() && mode->first == 1 && largest > kFewStars;
  return largest > kMostStars || falls ? Feedback::counts : Feedback::stars;
}

}  // namespace mf
