// The inner loops of every instruction set, the Gram matrix, the sides and the groups, one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "algorithms/ials/cpu/cg_step.hpp"
#include "algorithms/ials/settings.hpp"
#include "algorithms/ials/sides.hpp"
#include "algorithms/ials/test/reference.hpp"
#include "base/error.hpp"
#include "base/rng.hpp"
#include "testing/test_support.hpp"
#include "testing/triples.hpp"

namespace mf::ials::cpu {
namespace {

constexpr std::int64_t kRows = 50;

AlignedVector<float> random_rows(std::int64_t rows, std::int64_t factors, std::uint64_t seed) {
  const std::int64_t stride = als::cpu::padded_stride(factors);
  AlignedVector<float> data(rows * stride, 0.0F);
  Rng rng(seed);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = 0; k < factors; ++k) {
      data[r * stride + k] = static_cast<float>(rng.normal());
    }
  }
  return data;
}

std::vector<Isa> instruction_sets() {
  std::vector<Isa> sets;
  for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
    if (has(isa)) sets.push_back(isa);
  }
  return sets;
}

struct Case {
  Case(std::int32_t f, std::int64_t count)
      : factors(f),
        stride(als::cpu::padded_stride(f)),
        data(random_rows(kRows, f, 1)),
        v(random_rows(1, f, 2)) {
    Rng rng(3);
    for (std::int64_t k = 0; k < count; ++k) {
      others.push_back(static_cast<std::int32_t>(rng.uniform() * kRows));
      weights.push_back(static_cast<float>(0.5 + 3 * rng.uniform()));
    }
  }
  FactorRows rows() const { return {data.data(), stride, factors}; }
  Pairs pairs(std::int64_t begin, std::int64_t end) const {
    return {others.data() + begin, weights.data() + begin, end - begin};
  }
  std::vector<double> expected(bool residual) const {
    std::vector<double> sums(factors, 0.0);
    for (std::int64_t k = 0; k < std::ssize(others); ++k) {
      const float* y = data.data() + others[k] * stride;
      double dot = 0;
      for (int i = 0; i < factors; ++i) dot += static_cast<double>(y[i]) * v[i];
      const double c = residual ? 1 + weights[k] * (1 - dot) : weights[k] * dot;
      for (int i = 0; i < factors; ++i) sums[i] += c * y[i];
    }
    return sums;
  }

  std::int32_t factors;
  std::int64_t stride;
  AlignedVector<float> data, v, weights;
  AlignedVector<std::int32_t> others;
};

TEST(IalsPairs, SumsAreThoseOfTheEquation) {
  for (const Isa isa : instruction_sets()) {
    const PairKernels kernels = pair_kernels(isa);
    for (const int f : {1, 16, 17, 33, 50, 64, 80, 96, 100, 128, 129, 200, 1024}) {
      for (const int count : {1, 2, 3, 7, 40}) {
        const Case c(f, count);
        for (const bool residual : {false, true}) {
          AlignedVector<float> sums(c.stride, 0.0F);
          (residual ? kernels.residual : kernels.product)(c.rows(), c.pairs(0, count), c.v.data(),
                                                          sums.data());
          const std::vector<double> expected = c.expected(residual);
          for (int i = 0; i < f; ++i) {
            EXPECT_NEAR(sums[i], expected[i], 1e-4 * count * std::sqrt(f))
                << to_string(isa) << " f " << f << " count " << count << " " << i;
          }
          for (std::int64_t i = f; i < c.stride; ++i) EXPECT_EQ(sums[i], 0);
        }
      }
    }
  }
}

TEST(IalsPairs, ACutChangesNoBit) {
  for (const Isa isa : instruction_sets()) {
    for (const int f : {20, 64, 128, 300}) {
      const Case c(f, 23);
      const PairsKernel kernel = pair_kernels(isa).product;
      AlignedVector<float> whole(c.stride, 0.0F);
      kernel(c.rows(), c.pairs(0, 23), c.v.data(), whole.data());
      for (const int cut : {1, 2, 3, 6, 11, 22}) {
        AlignedVector<float> parts(c.stride, 0.0F);
        kernel(c.rows(), c.pairs(0, cut), c.v.data(), parts.data());
        kernel(c.rows(), c.pairs(cut, 23), c.v.data(), parts.data());
        EXPECT_EQ(parts, whole) << to_string(isa) << " f " << f << " cut " << cut;
      }
    }
  }
}

TEST(IalsPairs, DotsAreOfABlockOfColumns) {
  for (const Isa isa : instruction_sets()) {
    for (const int count : {1, 3, 4, 23}) {
      const Case c(100, count);
      for (const std::int64_t begin : {0, 16, 64}) {
        const std::int32_t width = begin == 64 ? 36 : 32;
        AlignedVector<float> v(c.v.begin() + begin, c.v.begin() + begin + 48);
        std::fill(v.begin() + width, v.end(), 0.0F);
        AlignedVector<float> out(count, 0.5F);
        pair_kernels(isa).dots({c.data.data() + begin, c.stride, width}, c.others.data(), count,
                               v.data(), out.data());
        for (int k = 0; k < count; ++k) {
          double dot = 0.5;
          for (int i = 0; i < width; ++i) {
            dot += static_cast<double>(c.data[c.others[k] * c.stride + begin + i]) * v[i];
          }
          EXPECT_NEAR(out[k], dot, 1e-4) << to_string(isa);
        }
      }
    }
  }
}

TEST(IalsPairs, DenseProductsAreTheSameAloneAndTogether) {
  constexpr std::int64_t kCount = 19;
  for (const Isa isa : instruction_sets()) {
    const PairKernels kernels = pair_kernels(isa);
    for (const int f : {1, 16, 50, 64, 128, 300}) {
      const std::int64_t stride = als::cpu::padded_stride(f);
      AlignedVector<float> gram = random_rows(f, f, 4);
      const AlignedVector<float> v = random_rows(kCount, f, 5);
      AlignedVector<float> regs(kCount), all(kCount * stride);
      for (std::int64_t r = 0; r < kCount; ++r) regs[r] = static_cast<float>(r);
      kernels.dense(gram.data(), stride, f, regs.data(), v.data(), kCount, all.data());
      for (std::int64_t r = 0; r < kCount; ++r) {
        AlignedVector<float> one(stride);
        kernels.dense(gram.data(), stride, f, regs.data() + r, v.data() + r * stride, 1,
                      one.data());
        for (std::int64_t i = 0; i < stride; ++i) {
          EXPECT_EQ(all[r * stride + i], one[i]);
          double expected = static_cast<double>(regs[r]) * v[r * stride + i];
          for (int k = 0; k < f; ++k) {
            expected += static_cast<double>(gram[k * stride + i]) * v[r * stride + k];
          }
          EXPECT_NEAR(one[i], expected, 1e-4 * f);
        }
      }
    }
  }
}

TEST(IalsGram, IsTheSumOverAllRowsWhateverTheThreads) {
  for (const std::int64_t rows : {1, 63, 5000}) {
    for (const int f : {1, 30, 64}) {
      const AlignedVector<float> data = random_rows(rows, f, 6);
      const std::int64_t stride = als::cpu::padded_stride(f);
      const als::cpu::FactorRows view = {data.data(), stride, f};
      const auto kernels = als::cpu::formation_kernels(choose_isa("auto"));
      Gram one, more;
      ThreadTeam single(1), team(3);
      one.compute(view, rows, kernels, single);
      more.compute(view, rows, kernels, team);
      for (std::int64_t i = 0; i < f; ++i) {
        for (std::int64_t j = 0; j < f; ++j) {
          double sum = 0;
          for (std::int64_t r = 0; r < rows; ++r) {
            sum += static_cast<double>(data[r * stride + i]) * data[r * stride + j];
          }
          const float got = one.data()[i * stride + j];
          EXPECT_NEAR(got, sum, 1e-5 * static_cast<double>(rows) + 1e-5);
          EXPECT_EQ(got, more.data()[i * stride + j]);
        }
      }
    }
  }
}

TEST(IalsPlan, EveryRowIsInOneGroup) {
  const Ratings train = test::clicks(30000, 12, 0.05, 8);
  ThreadTeam team(1);
  const Sides sides(train, {}, team);
  for (const int threads : {1, 3, 16}) {
    for (const std::int64_t stride : {16, 64, 1024}) {
      const CgPlan plan = make_cg_plan(sides.items(), 30000, stride, threads);
      std::int64_t next = plan.order.shared;
      bool any_banded = false;
      for (const Group& group : plan.groups) {
        EXPECT_EQ(group.first, next);
        EXPECT_GT(group.last, group.first);
        any_banded = any_banded || group.banded;
        next = group.last;
      }
      EXPECT_EQ(next, std::ssize(plan.order.rows));
      EXPECT_EQ(plan.order.shared > 0, threads > 1);
      EXPECT_EQ(any_banded, threads == 1 || stride == 1024) << threads << " " << stride;
    }
  }
}

TEST(IalsSides, WeightsAreAlphaTimesTheValue) {
  const Ratings train = mf::test::ratings_of(2, 3, {{0, 0, 2}, {0, 2, 0}, {1, 0, 4}, {1, 1, 0.5}});
  ThreadTeam team(2);
  for (const double alpha : {1.0, 3.0}) {
    const Sides sides(train, {alpha, 0, 0}, team);
    const als::Side users = sides.users();
    const als::Side items = sides.items();
    ASSERT_EQ(users.nnz(), 3);
    ASSERT_EQ(items.nnz(), 3);
    EXPECT_EQ(users.offsets[1], 1);
    EXPECT_EQ(items.offsets[1], 2);
    EXPECT_EQ(items.offsets[3], 3);
    EXPECT_EQ(users.values[0], static_cast<float>(2 * alpha));
    EXPECT_EQ(items.values[1], static_cast<float>(4 * alpha));
    EXPECT_EQ(items.others[2], 1);
  }
}

Sides sides_of(float value, double alpha) {
  ThreadTeam team(1);
  return Sides(mf::test::ratings_of(2, 3, {{0, 0, 2}, {1, 2, value}}), {alpha, 0, 0}, team);
}

std::string refused(float value, double alpha) {
  const Error error = mf::test::error_of([&] { sides_of(value, alpha); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  return error.what();
}

TEST(IalsSides, RefusesWhatIsNoConfidence) {
  const float infinite = std::numeric_limits<float>::infinity();
  for (const float value : {-1.0F, infinite, std::nanf("")}) {
    const std::string told = refused(value, 1);
    EXPECT_HAS(told, "user 1 and item 2");
    EXPECT_HAS(told, "finite");
  }
  EXPECT_HAS(refused(1e38F, 100), "alpha");
  EXPECT_NO_THROW(sides_of(0, 1));
  EXPECT_NO_THROW(sides_of(3, 1));
}

}  // namespace
}  // namespace mf::ials::cpu
