// Models of tests.
#pragma once

#include <gtest/gtest.h>

#include "algorithms/core/model.hpp"

namespace mf::test {

inline void expect_same(const Model& a, const Model& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.p, b.p);
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.user_bias, b.user_bias);
  EXPECT_EQ(a.item_bias, b.item_bias);
}

}  // namespace mf::test
