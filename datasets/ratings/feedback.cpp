#include "datasets/ratings/feedback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "base/counted.hpp"

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

std::optional<std::string> why_no_stars(View<const float> values) {
  if (values.empty()) return std::nullopt;
  const auto is_bit = [](float value) { return value == 0 || value == 1; };
  const Feedback look = feedback_of(values);
  std::string found;
  if (look == Feedback::counts) found = "look like counts";
  if (look == Feedback::pairs) found = fmt::format("are all {}", values[0]);
  if (look == Feedback::stars && std::all_of(values.begin(), values.end(), is_bit))
    found = "are only 0 and 1";
  if (found.empty()) return std::nullopt;
  return "the values " + found +
         ", which are implicit feedback: take ials_cpu or its like, or declare the rating_scale of "
         "ratings";
}

std::optional<std::string> lone_lowest(View<const float> values) {
  if (values.empty() || feedback_of(values) != Feedback::stars) return std::nullopt;
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  float next = *highest;
  for (const float value : values) {
    if (2 * value != std::floor(2 * value)) return std::nullopt;
    if (value > *lowest) next = std::min(next, value);
  }
  if (*lowest > 0 || next <= 0 || next == *highest) return std::nullopt;
  return fmt::format(
      "{0} ({1}) lies below the rating scale: if it marks pairs without a rating, leave them out "
      "with --unrated {0}",
      *lowest, counted(std::count(values.begin(), values.end(), *lowest), "rating"));
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
