#include "datasets/ratings/feedback.hpp"

#include <algorithm>
#include <array>
#include <atomic>
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

Signs signs_of(View<const float> values, ThreadTeam& team) {
  constexpr std::int64_t kChunk = std::int64_t{1} << 16;
  std::atomic<std::int64_t> zeros{0};
  std::atomic<std::int64_t> negative{values.size()};
  team.for_chunks(values.size(), kChunk, [&](std::int64_t begin, std::int64_t end) {
    const auto first = values.begin() + begin, last = values.begin() + end;
    zeros += std::count(first, last, 0.0F);
    if (!(*std::min_element(first, last) < 0)) return;
    const auto found = std::find_if(first, last, [](float value) { return value < 0; });
    const std::int64_t at = found - values.begin();
    for (std::int64_t known = negative; at < known && !negative.compare_exchange_weak(known, at);) {
    }
  });
  return {zeros, negative < values.size() ? negative.load() : -1};
}

}  // namespace mf
