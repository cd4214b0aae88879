// A_u and b_u by every instruction set against double precision, and the plan of the rows.
#include "algorithms/als/cpu/formation.hpp"

#include <gtest/gtest.h>

#include "algorithms/als/cpu/half_step.hpp"
#include "algorithms/als/test/reference.hpp"

namespace mf::als::cpu {
namespace {

constexpr std::int32_t kItems = 300;

// One row of `count` ratings of random items (some twice), as a side.
struct OneRow {
  explicit OneRow(std::int64_t count) : offsets{0, count} {
    Rng rng(static_cast<std::uint64_t>(count));
    for (std::int64_t k = 0; k < count; ++k) {
      others.push_back(static_cast<std::int32_t>(rng.below(kItems)));
      values.push_back(static_cast<float>(1 + rng.below(5)));
    }
  }
  Side side() const { return {offsets, others, values}; }
  RowRatings ratings() const {
    return {others.data(), values.data(), static_cast<std::int64_t>(others.size())};
  }
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> others;
  std::vector<float> values;
};

// A side whose every row has ratings, so that a table keeps all of them.
FactorTable item_factors(std::int32_t factors, InitKind kind, ThreadTeam& team) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i <= kItems; ++i) offsets.push_back(i);
  const Side side = {offsets, {}, {}};
  const Model m = initial_model(1, kItems, factors, ModelKind::plain, 3.5, {kind, 0.3, 9}, 1);
  return {m.q, factors, side, team};
}

// |A_ij| <= sqrt(A_ii A_jj) and |b_i| <= |r| sqrt(A_ii): errors are measured on these scales.
void expect_close(const OneRow& row, const test::System& s, const Workspace& work,
                  std::int64_t stride) {
  double norm = 0;
  for (const float r : row.values) norm += static_cast<double>(r) * r;
  double worst_a = 0;
  double worst_b = 0;
  for (std::int64_t j = 0; j < s.f; ++j) {
    for (std::int64_t i = j; i < s.f; ++i) {
      const double got = work.a[i * stride + j];
      const double scale = std::sqrt(s.a[i * s.f + i] * s.a[j * s.f + j]);
      worst_a = std::max(worst_a, std::abs(got - s.a[i * s.f + j]) / scale);
    }
    worst_b = std::max(worst_b, std::abs(work.b[j] - s.b[j]) / std::sqrt(norm * s.a[j * s.f + j]));
  }
  EXPECT_LT(worst_a, 1e-5);
  EXPECT_LT(worst_b, 1e-5);
}

class Formation : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!has(GetParam())) GTEST_SKIP() << "this CPU has no " << to_string(GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(Isas, Formation, testing::Values(Isa::scalar, Isa::avx2, Isa::avx512),
                         [](const auto& isa) { return to_string(isa.param); });

// One rating; less than a panel; panels and a rest; parts. The uniform start is all positive, so
// that no cancellation hides an error that grows with the row.
TEST_P(Formation, SumsAreThoseOfDoublePrecision) {
  const FormationKernels kernels = formation_kernels(GetParam());
  ThreadTeam team(1);
  for (const std::int32_t f : {1, 7, 32, 100, 128, 200}) {
    const Common common = test::common_of(f, 0.05);
    Workspace work(common, Solver::cg, kernels);
    const std::int64_t longest = f > 32 ? kPartRatings + 5 : 3 * kPartRatings - 7;
    for (const std::int64_t count :
         {std::int64_t{1}, std::int64_t{2}, std::int64_t{37}, std::int64_t{300}, longest}) {
      SCOPED_TRACE(testing::Message() << "f " << f << ", ratings " << count);
      const OneRow row(count);
      for (const InitKind kind : {InitKind::uniform, InitKind::normal}) {
        if (kind == InitKind::normal && count == longest) continue;  // time
        const FactorTable factors = item_factors(f, kind, team);
        const FactorRows rows = factors.view();
        form_row(kernels, rows, row.ratings(), work);
        expect_close(row, test::normal_equations(row.side(), 0, rows.data, rows.stride, f, 0), work,
                     rows.stride);
      }
    }
  }
}

// Columns [16, 16 + width) of longer rows, each row scaled: the sums equal those over scaled
// columns.
TEST_P(Formation, RowsMayBeScaledAndCut) {
  ThreadTeam team(1);
  const FactorTable factors = item_factors(60, InitKind::normal, team);
  const OneRow row(700);
  AlignedVector<float> scales(700);
  for (std::int64_t k = 0; k < 700; ++k) scales[k] = 0.25F * static_cast<float>(1 + k % 9);
  for (const std::int32_t width : {16, 32, 44}) {
    const FactorRows rows = {factors.view().data + 16, factors.view().stride, width};
    const std::int64_t stride = padded_stride(width);
    AlignedVector<float> a(stride * stride, 0.0F), b(stride, 0.0F), panel(64 * stride);
    RowRatings ratings = row.ratings();
    ratings.scales = scales.data();
    formation_kernels(GetParam()).form(rows, ratings, {a.data(), b.data(), panel.data(), 64});
    for (std::int64_t j = 0; j < width; ++j) {
      double of_b = 0;
      for (std::int64_t i = 0; i <= j; ++i) {
        double of_a = 0;
        of_b = 0;
        for (std::int64_t k = 0; k < 700; ++k) {
          const float* theta = rows.data + row.others[k] * rows.stride;
          const double s = scales[k];
          of_a += s * theta[i] * s * theta[j];
          of_b += s * theta[j] * row.values[k];
        }
        EXPECT_NEAR(a[j * stride + i], of_a, 2e-3) << width << " " << i << " " << j;
      }
      EXPECT_NEAR(b[j], of_b, 2e-3) << width << " " << j;
    }
  }
}

TEST_P(Formation, WeightedSumMultipliesAMatrix) {
  for (const std::int64_t f : {1, 7, 32, 100, 128, 200}) {
    const std::int64_t stride = padded_stride(f);
    Rng rng(static_cast<std::uint64_t>(f));
    AlignedVector<float> rows(f * stride);
    AlignedVector<float> weights(f);
    AlignedVector<float> out(stride, -1.0F);
    for (float& x : rows) x = static_cast<float>(rng.normal());
    for (float& x : weights) x = static_cast<float>(rng.normal());
    formation_kernels(GetParam()).weighted_sum(rows.data(), stride, f, weights.data(), out.data());
    for (std::int64_t i = 0; i < stride; ++i) {
      double expected = 0;
      for (std::int64_t k = 0; k < f; ++k) {
        expected += static_cast<double>(weights[k]) * rows[k * stride + i];
      }
      EXPECT_NEAR(out[i], expected, 1e-4) << f << " " << i;
    }
  }
}

// More ratings than factors, and fewer: then only the diagonal makes A positive definite.
TEST_P(Formation, CholeskySolves) {
  ThreadTeam team(1);
  const FormationKernels kernels = formation_kernels(GetParam());
  for (const std::int32_t f : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 100, 128, 200, 256}) {
    const Common common = test::common_of(f, 0.05);
    Workspace work(common, Solver::cholesky, kernels);
    const FactorTable factors = item_factors(f, InitKind::normal, team);
    const FactorRows rows = factors.view();
    for (const std::int64_t count : {std::int64_t{5}, std::int64_t{3} * f}) {
      SCOPED_TRACE(testing::Message() << "f " << f << ", ratings " << count);
      const OneRow row(count);
      form_row(kernels, rows, row.ratings(), work);
      for (std::int64_t k = 0; k < f; ++k) {
        work.a[k * (rows.stride + 1)] += 0.1F * static_cast<float>(count);
      }
      const AlignedVector<float> b = work.b;
      AlignedVector<float> x(f, -7.0F);
      ASSERT_TRUE(work.solver.solve(work.a.data(), work.b.data(), x.data()));
      EXPECT_EQ(work.b, b);
      const std::vector<double> exact =
          test::solve(test::normal_equations(row.side(), 0, rows.data, rows.stride, f, 0.1F));
      double largest = 0;
      double worst = 0;
      for (std::int64_t k = 0; k < f; ++k) {
        largest = std::max(largest, std::abs(exact[k]));
        worst = std::max(worst, std::abs(x[k] - exact[k]));
      }
      EXPECT_LT(worst, 5e-5 * largest);
    }
  }
}

TEST_P(Formation, CholeskySeesWhatIsNotPositiveDefinite) {
  for (const std::int32_t f : {2, 20, 100}) {
    const std::int64_t stride = padded_stride(f);
    for (const float last : {0.0F, -1.0F, std::nanf("")}) {
      AlignedVector<float> a(stride * stride, 0.0F);
      AlignedVector<float> b(stride, 1.0F);
      AlignedVector<float> x(f, 3.0F);
      AlignedVector<float> scratch(2 * stride);
      for (std::int64_t k = 0; k < f; ++k) {
        a[k * (stride + 1)] = k + 1 == f ? last : 2;
      }
      EXPECT_FALSE(formation_kernels(GetParam())
                       .cholesky(a.data(), stride, f, b.data(), x.data(), scratch.data(), nullptr));
      EXPECT_EQ(x, AlignedVector<float>(f, 3.0F));
    }
  }
}

TEST(Parts, CoverTheRowEvenly) {
  for (const std::int64_t n : {std::int64_t{1}, kPartRatings, kPartRatings + 1,
                               std::int64_t{230'000}, std::int64_t{3'000'000'000}}) {
    const std::int64_t parts = part_count(n);
    EXPECT_LE(parts, kMaxParts);
    EXPECT_EQ(parts == 1, n <= kPartRatings);
    EXPECT_EQ(part_begin(n, parts, 0), 0);
    EXPECT_EQ(part_begin(n, parts, parts), n);
    for (std::int64_t p = 0; p < parts; ++p) {
      const std::int64_t size = part_begin(n, parts, p + 1) - part_begin(n, parts, p);
      EXPECT_GE(size, n / parts);
      EXPECT_LE(size, n / parts + 1);
    }
  }
}

Side side_of(const std::vector<std::int64_t>& offsets, std::vector<std::int32_t>& others) {
  others.resize(offsets.back());
  return {offsets, others, {}};
}

// Each row with ratings once, longest first; cuts and waves without gaps.
TEST(Plan, HasEveryRowWithRatingsOnce) {
  std::vector<std::int64_t> offsets = {0};
  Rng rng(4);
  for (int row = 0; row < 1000; ++row) {
    const std::uint64_t length = row % 5 == 0 ? 0 : rng.below(row % 100 == 1 ? 30'000 : 40);
    offsets.push_back(offsets.back() + static_cast<std::int64_t>(length));
  }
  std::vector<std::int32_t> others;
  const Side side = side_of(offsets, others);
  const auto length = [&](std::int32_t row) { return side.length(row); };
  for (const int threads : {1, 4, 16}) {
    const RowPlan plan = make_row_plan(side, 32, threads);
    std::vector<int> seen(1000, 0);
    for (std::int64_t k = 0; k < std::ssize(plan.rows); ++k) {
      ++seen[plan.rows[k]];
      if (k > 0) {
        EXPECT_GE(length(plan.rows[k - 1]), length(plan.rows[k]));
      }
    }
    for (std::int32_t row = 0; row < 1000; ++row) {
      EXPECT_EQ(seen[row], length(row) > 0 ? 1 : 0);
    }
    ASSERT_GE(plan.cuts.size(), 2U);
    EXPECT_EQ(plan.cuts.front(), plan.shared);
    EXPECT_EQ(plan.cuts.back(), std::ssize(plan.rows));
    EXPECT_TRUE(std::is_sorted(plan.cuts.begin(), plan.cuts.end()));
    EXPECT_EQ(plan.shared > 0, threads > 1) << threads;
    EXPECT_EQ(plan.waves.back(), plan.shared);
    if (plan.shared > 0) {
      EXPECT_LT(length(plan.rows[plan.shared]), 30'000);
    }
  }
}

TEST(Plan, WavesBoundTheParts) {
  std::vector<std::int64_t> offsets = {0};
  const std::int64_t long_row = 100 * kPartRatings;
  for (int row = 0; row < 7; ++row) offsets.push_back(offsets.back() + long_row);
  const Side side = {offsets, {}, {}};  // a plan only looks at offsets and the number of ratings
  const RowPlan plan = make_row_plan(side, 8, 4);
  EXPECT_EQ(plan.shared, 7);
  EXPECT_EQ(plan.waves, std::vector<std::int64_t>({0, 2, 4, 6, 7}));
}

TEST(Plan, AnEmptySideHasNothingToDo) {
  const std::vector<std::int64_t> offsets = {0, 0, 0};
  const RowPlan plan = make_row_plan({offsets, {}, {}}, 8, 4);
  EXPECT_TRUE(plan.rows.empty());
  EXPECT_EQ(plan.cuts, std::vector<std::int64_t>({0}));
  EXPECT_EQ(plan.waves, std::vector<std::int64_t>({0}));
}

}  // namespace
}  // namespace mf::als::cpu
