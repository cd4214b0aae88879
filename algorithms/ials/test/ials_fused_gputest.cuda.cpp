// ials_fused against equation (1) in double precision, dense, and against ials_cpu.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "algorithms/ials/fused/weighting.hpp"
#include "algorithms/ials/test/reference.hpp"
#include "algorithms/ials/test/trainer.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/triples.hpp"

namespace mf::ials {
namespace {

using test::clicks;
using test::Dense;
using test::Matrix;
using test::rows_of;

Params fused(const Json& changes) {
  return default_params(find_algorithm("ials_fused").params, changes);
}

// Every pair of the same value.
Ratings binary(const Ratings& train) {
  std::vector<Rating> list;
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    list.push_back({train[k].user, train[k].item, 1.0F});
  }
  return mf::test::ratings_of(train.n_users(), train.n_items(), list);
}

// |v - w| / |w|
double difference(const Matrix& v, const Matrix& w) { return (v - w).norm() / w.norm(); }

struct Fitted {
  Fitted(const Ratings& train, const Json& changes)
      : params(fused(changes)),
        start(test::start_for(train, static_cast<std::int32_t>(params.integer("factors")))),
        runner("ials_fused", params, train, start),
        dense(train, find_algorithm("ials_fused").implicit(params)) {}

  Matrix x() { return rows_of(runner.model().p, start.n_users); }
  Matrix y() { return rows_of(runner.model().q, start.n_items); }
  // The first Y, whose rows without pairs are zero.
  Matrix first_y() const {
    Matrix y = rows_of(start.q, start.n_items);
    for (std::int64_t i = 0; i < y.rows(); ++i) {
      if (dense.p.col(i).sum() == 0) y.row(i).setZero();
    }
    return y;
  }
  // After so many iterations of exact solutions.
  double exact_objective(int iterations) const {
    Matrix y = first_y();
    Matrix x;
    for (int k = 0; k < iterations; ++k) {
      x = dense.solve_users(y);
      y = dense.solve_items(x);
    }
    return dense.objective(x, y);
  }

  Params params;
  Model start;
  cuda::TestRunner runner;
  Dense dense;
};

// An iteration against exact solutions: X with the first Y, then Y with the X found. `first_x`:
// that X, if it is known.
void expect_exact(const Ratings& train, Json changes, double tolerance, Matrix& first_x) {
  changes["cg_steps"] = 40;
  Fitted run(train, changes);
  EXPECT_EQ(run.runner.run(1, 1, 0), 2 * train.nnz());
  const Matrix x = run.x();
  if (first_x.size() == 0) first_x = run.dense.solve_users(run.first_y());
  EXPECT_LT(difference(x, first_x), tolerance) << changes;
  EXPECT_LT(difference(run.y(), run.dense.solve_items(x)), tolerance) << changes;
  EXPECT_TRUE(run.runner.padding_is_zero) << changes;
}

void expect_exact(const Ratings& train, const Json& changes, double tolerance) {
  Matrix first_x;
  expect_exact(train, changes, tolerance, first_x);
}

class IalsFusedFactors : public testing::TestWithParam<int> {};

// Rows of 0 to 90 pairs; split ones too.
TEST_P(IalsFusedFactors, AnIterationIsTheExactSolution) {
  const int f = GetParam();
  const Ratings weighted = clicks(150, 90, 0.25, 3);
  const Ratings equal = binary(weighted);
  for (const double alpha : {0.3, 4.0}) {
    Matrix x_of_weighted, x_of_equal;
    for (const int split : {32, 8192}) {
      Json changes = {{"factors", f}, {"reg", 0.5}, {"split_rows", split}, {"alpha", alpha}};
      changes["precision"] = "fp16x2";
      expect_exact(weighted, changes, 2e-4, x_of_weighted);
      expect_exact(equal, changes, 2e-4, x_of_equal);
      changes["precision"] = "fp16";
      for (const char* normal : {"formed", "applied"}) {
        changes["normal"] = normal;
        expect_exact(weighted, changes, 2e-2, x_of_weighted);
        expect_exact(equal, changes, 2e-2, x_of_equal);
      }
    }
  }
}

// Many more rows than thread blocks, of uneven lengths: no row may depend on its block's earlier
// work. Compared with exact solutions, row by row.
TEST_P(IalsFusedFactors, ManyRowsOfUnevenLengthAreSolved) {
  const int f = GetParam();
  const std::int32_t rows = f <= 64 ? 4000 : f <= 128 ? 1500 : 500;
  std::vector<Rating> list;
  const Ratings even = clicks(rows, 160, 0.7, 9);
  for (std::int64_t k = 0; k < even.nnz(); ++k) {
    const Rating r = even[k];
    if (r.item < (r.user % 5 + 1) * 32) list.push_back(r);
  }
  const Ratings uneven = mf::test::ratings_of(rows, 160, list);
  for (const bool equal : {false, true}) {
    const Ratings train = equal ? binary(uneven) : uneven;
    Matrix expected;
    for (const char* normal : {"formed", "applied", "auto"}) {
      Fitted run(
          train,
          {{"factors", f}, {"reg", 1}, {"cg_steps", 20}, {"split_rows", 80}, {"normal", normal}});
      run.runner.run(1, 1, 0);
      const Matrix x = run.x();
      if (expected.size() == 0) expected = run.dense.solve_users(run.first_y());
      for (std::int64_t u = 0; u < rows; ++u) {
        ASSERT_LT((x.row(u) - expected.row(u)).norm(), 1e-2 * expected.row(u).norm() + 1e-6)
            << normal << " row " << u << (equal ? ", equal weights" : "");
      }
    }
  }
}

// Rows of up to hundreds of pairs by every number of warps: applied equals fp32 on fp16 rows.
TEST_P(IalsFusedFactors, AppliedRowsOfEveryLengthAreSolved) {
  const int f = GetParam();
  std::vector<Rating> list;
  const Ratings even = clicks(140, 420, 1, 10);
  for (std::int64_t k = 0; k < even.nnz(); ++k) {
    if (even[k].item < 3 * even[k].user) list.push_back(even[k]);
  }
  const Ratings triangle = mf::test::ratings_of(140, 420, list);
  for (const bool equal : {false, true}) {
    Fitted run(equal ? binary(triangle) : triangle,
               {{"factors", f}, {"reg", 1}, {"cg_steps", 25}, {"normal", "applied"}});
    run.runner.run(1, 1, 0);
    const Matrix x = run.x();
    const Matrix expected = run.dense.solve_users(run.first_y());
    for (std::int64_t u = 0; u < x.rows(); ++u) {
      ASSERT_LT((x.row(u) - expected.row(u)).norm(), 5e-3 * expected.row(u).norm() + 1e-6)
          << "row " << u << (equal ? ", equal weights" : "");
    }
  }
}

// Rows of thousands of pairs, in parts and whole.
TEST_P(IalsFusedFactors, PopularItemsAreSolved) {
  const int f = GetParam();
  const Ratings train = clicks(3000, 8, 0.3, 4);
  for (const int split : {100, 8192}) {
    Fitted run(train, {{"factors", f}, {"reg", 1}, {"cg_steps", 40}, {"split_rows", split}});
    run.runner.run(1, 1, 0);
    EXPECT_LT(difference(run.y(), run.dense.solve_items(run.x())), 1e-2) << split;
  }
}

INSTANTIATE_TEST_SUITE_P(Factors, IalsFusedFactors,
                         testing::Values(8, 16, 17, 32, 50, 64, 100, 112, 128, 129, 192, 200, 256));

// More factors than A can be formed of: rows of up to 30 pairs, then items of up to 599, more than
// shared memory holds.
TEST(IalsFused, LongRowsAreSolved) {
  const Ratings weighted = clicks(40, 30, 0.4, 13);
  const Ratings popular = clicks(600, 8, 0.5, 14);
  for (const int f : {257, 512}) {
    for (const bool equal : {false, true}) {
      const char* normal = equal ? "applied" : "auto";
      expect_exact(equal ? binary(weighted) : weighted,
                   {{"factors", f}, {"reg", 0.5}, {"normal", normal}, {"split_rows", 32}}, 2e-2);
      Fitted run(equal ? binary(popular) : popular, {{"factors", f}, {"reg", 1}, {"cg_steps", 40}});
      run.runner.run(1, 1, 0);
      EXPECT_LT(difference(run.y(), run.dense.solve_items(run.x())), 1e-2) << f;
    }
  }
}

// Three steps of CG, the default, are as good as exact solutions if weights are near 1. The
// condition of a row's system is at most 1 + its largest weight; of 50, it takes more of them.
TEST(IalsFused, TheObjectiveAfterTenIterationsIsThatOfExactSolutions) {
  const Ratings weighted = clicks(300, 200, 0.15, 5);
  for (const bool equal : {true, false}) {
    const Ratings train = equal ? binary(weighted) : weighted;
    for (const int f : {24, 64}) {
      for (const double alpha : {1.0, 10.0}) {
        double exact = 0;
        for (const char* precision : {"fp16", "fp16x2"}) {
          const Json changes = {{"factors", f},
                                {"alpha", alpha},
                                {"precision", precision},
                                {"cg_steps", alpha == 1 ? 3 : 12}};
          Fitted run(train, changes);
          if (exact == 0) exact = run.exact_objective(10);
          run.runner.run(1, 10, 0);
          EXPECT_NEAR(run.dense.objective(run.x(), run.y()), exact, 1e-3 * exact) << changes;
        }
      }
    }
  }
}

// The Gram matrix as a preconditioner is worth steps.
TEST(IalsFused, ThreeStepsAreNoWorseThanThreeOfTheCpu) {
  const Ratings train = clicks(300, 200, 0.15, 5);
  for (const double alpha : {1.0, 10.0}) {
    const Json changes = {{"factors", 64}, {"alpha", alpha}, {"cg_steps", 3}};
    Json cg = changes;
    cg["solver"] = "cg";
    test::Trainer host("ials_cpu", cg, train, 2);
    host.run(10);
    Fitted run(train, changes);
    run.runner.run(1, 10, 0);
    const double expected = test::objective(run.dense, host.model());
    EXPECT_LT(test::objective(run.dense, run.runner.model()), expected * 1.001) << changes;
  }
}

TEST(IalsFused, WeightsFarFromOneAreSolved) {
  const Ratings weighted = clicks(100, 80, 0.3, 7);
  const Ratings equal = binary(weighted);
  for (const double alpha : {1e-4, 1e-2, 1e2, 1e3}) {
    const Json changes = {{"factors", 20}, {"reg", 1}, {"alpha", alpha}, {"precision", "fp16x2"}};
    // The condition of a row's system is at most 1 + its largest weight.
    const double tolerance = alpha > 10 ? 1e-2 : 1e-3;
    expect_exact(weighted, changes, tolerance);
    expect_exact(equal, changes, tolerance);
  }
}

TEST(IalsFused, RowsWithoutPairsAreZeroAndRunsAreEqual) {
  const Ratings weighted = clicks(50, 3000, 0.1, 8);
  for (const bool equal : {true, false}) {
    const Ratings train = equal ? binary(weighted) : weighted;
    std::vector<Model> models;
    for (int run = 0; run < 2; ++run) {
      Fitted one(train, {{"factors", 100}, {"split_rows", 64}, {"normal", "auto"}});
      one.runner.run(1, 3, 0);
      models.push_back(one.runner.model());
    }
    EXPECT_EQ(models[0].p, models[1].p);
    EXPECT_EQ(models[0].q, models[1].q);
    for (int k = 0; k < 100; ++k) {
      EXPECT_EQ(models[0].p[k], 0.0F);        // user 0
      EXPECT_EQ(models[0].q[100 + k], 0.0F);  // item 1
    }
  }
}

// Pieces of one row and without pairs, of uneven numbers of rows, and one of all; rows that are
// longer than a piece, formed in parts, formed and applied.
TEST(IalsFused, StreamedPairsGiveTheSameFactors) {
  const Ratings weighted = clicks(200, 300, 0.3, 15);
  for (const int f : {24, 100, 200, 300}) {
    for (const bool equal : {true, false}) {
      const Ratings train = equal ? binary(weighted) : weighted;
      Json changes = {{"factors", f}, {"split_rows", 64}, {"memory", "resident"}};
      Fitted resident(train, changes);
      resident.runner.run(1, 3, 0);
      const Model expected = resident.runner.model();
      changes["memory"] = "streamed";
      for (const int piece : {1, 50, 700, 5000, 1'000'000}) {
        changes["piece"] = piece;
        Fitted streamed(train, changes);
        EXPECT_EQ(streamed.runner.run(1, 3, 0), 6 * train.nnz());
        const Model got = streamed.runner.model();
        EXPECT_EQ(got.p, expected.p) << changes;
        EXPECT_EQ(got.q, expected.q) << changes;
        const Json facts = streamed.runner.algorithm->facts();
        EXPECT_EQ(facts.at("user_pieces") == 1, piece == 1'000'000) << facts;
      }
    }
  }
}

TEST(IalsFused, StreamedPairsOfValueZeroAreRefused) {
  const Ratings train = mf::test::ratings_of(2, 2, {{0, 0, 3.0F}, {0, 1, 0.0F}, {1, 1, 4.0F}});
  for (const char* memory : {"resident", "streamed"}) {
    try {
      const Fitted run(train, {{"factors", 4}, {"memory", memory}, {"piece", 1}});
      EXPECT_STREQ(memory, "resident");
    } catch (const Error& error) {
      EXPECT_STREQ(memory, "streamed");
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_NE(std::string(error.what()).find("1 pairs with the value 0"), std::string::npos);
    }
  }
}

TEST(IalsFused, WeightsBeyondFp16AreRefused) {
  const Ratings train = mf::test::ratings_of(2, 2, {{0, 0, 3.0F}, {1, 1, 4e7F}});
  try {
    const Fitted run(train, {{"factors", 4}});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_NE(std::string(error.what()).find("alpha"), std::string::npos) << error.what();
  }
}

// One row of the other side and 64 factors: G has rank 1, and this reg is lost in it.
TEST(IalsFused, AGramMatrixWithoutFactorIsReported) {
  const Ratings train = mf::test::ratings_of(3, 1, {{0, 0, 1.0F}, {1, 0, 2.0F}, {2, 0, 1.0F}});
  Fitted run(train, {{"factors", 64}, {"reg", 1e-300}});
  EXPECT_THROW(
      {
        run.runner.run(1, 1, 0);
        run.runner.model();
      },
      Error);
}

}  // namespace
}  // namespace mf::ials
