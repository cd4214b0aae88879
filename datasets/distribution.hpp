// How values and counts are distributed, without the JSON that dataset_stats.cpp makes of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "datasets/ratings/ratings.hpp"

namespace mf {

struct ValueCount {
  float value;
  std::int64_t count;
};

// Distinct values with their counts, ascending; empty where there are more than a hundred.
std::vector<ValueCount> histogram(std::span<const float> values);

struct Quantile {
  double share;
  float value;  // the smallest with at least this share of the values at or below it
};
// Of nine shares from 0 to 1. There must be values.
std::vector<Quantile> quantiles(std::span<const float> values);

double standard_deviation(std::span<const float> values, double mean);

// How many ratings each user and each item has; how many are in a part.
std::vector<std::int64_t> ratings_per_user(const Ratings& ratings);
std::vector<std::int64_t> ratings_per_item(const Ratings& ratings);
std::int64_t count_part(std::span<const std::uint8_t> parts, std::uint8_t part);

struct CountSummary {
  std::int64_t min;
  double median;
  double mean;
  std::int64_t max;
};
// There must be counts.
CountSummary summarize(std::vector<std::int64_t> counts);

}  // namespace mf
