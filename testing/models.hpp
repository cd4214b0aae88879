// Models of tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "algorithms/core/model.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::test {

inline void expect_same(const Model& a, const Model& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.p, b.p);
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.user_bias, b.user_bias);
  EXPECT_EQ(a.item_bias, b.item_bias);
}

// Of elements that should be alike; 1e300 if their numbers differ.
inline double largest_difference(const AlignedVector<float>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return 1e300;
  double largest = 0;
  for (std::int64_t k = 0; k < std::ssize(a); ++k) {
    largest = std::max(largest, std::abs(static_cast<double>(a[k]) - b[k]));
  }
  return largest;
}

// Root of the mean squared error, summed in double in the order of the ratings.
inline double rmse(const Model& model, const Ratings& ratings) {
  double sum = 0;
  for (std::int64_t k = 0; k < ratings.nnz(); ++k) {
    const Rating r = ratings[k];
    const std::int64_t p = std::int64_t{r.user} * model.factors;
    const std::int64_t q = std::int64_t{r.item} * model.factors;
    double error = static_cast<double>(r.value) - model.mean;
    if (!model.user_bias.empty()) error -= model.user_bias[r.user] + model.item_bias[r.item];
    for (std::int64_t i = 0; i < model.factors; ++i) {
      error -= static_cast<double>(model.p[p + i]) * model.q[q + i];
    }
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(ratings.nnz()));
}

}  // namespace mf::test
