// ials and ials_pp on the device against dense double precision on the host.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "algorithms/ials/test/device_reference.hpp"
#include "algorithms/ials/test/trainer.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/triples.hpp"

namespace mf::ials::test {
namespace {

constexpr double kReg = 0.5;  // so that fp32 solves the systems accurately for any number of
                              // factors

// A device algorithm on a matrix, from the same start as Trainer's.
struct Device {
  Device(const std::string& name, Json changes, const Ratings& ratings)
      : Device(name, changes, ratings,
               start_for(ratings, static_cast<std::int32_t>(changes["factors"].get<int>()))) {}
  Device(const std::string& name, const Json& changes, const Ratings& ratings, const Model& from)
      : params(default_params(find_algorithm(name).params, changes)),
        start(from),
        runner(name, params, ratings, start) {}

  Model run(int epochs) {
    const auto updates = runner.run(1, epochs, 0);
    const Model model = runner.model();
    EXPECT_TRUE(runner.padding_is_zero);
    EXPECT_GT(updates, 0);
    return model;
  }

  Params params;
  Model start;
  cuda::TestRunner runner;
};

AlignedVector<float> packed(const Matrix& m) {
  AlignedVector<float> out;
  for (std::int64_t r = 0; r < m.rows(); ++r) {
    for (std::int64_t k = 0; k < m.cols(); ++k) out.push_back(static_cast<float>(m(r, k)));
  }
  return out;
}

// Within `tolerance` of the largest element of each side.
void expect_model(const Model& got, const std::pair<Matrix, Matrix>& want, double tolerance,
                  const std::string& what) {
  cuda::expect_near(got.p, packed(want.first), tolerance * want.first.cwiseAbs().maxCoeff(),
                    what + ", X");
  cuda::expect_near(got.q, packed(want.second), tolerance * want.second.cwiseAbs().maxCoeff(),
                    what + ", Y");
}

void expect_same(const Model& a, const Model& b, const std::string& what) {
  EXPECT_TRUE(a.p == b.p) << what << ", X";
  EXPECT_TRUE(a.q == b.q) << what << ", Y";
}

Dense dense_of(const Ratings& train, const Params& params) {
  return Dense(train, find_algorithm("ials").implicit(params));
}

Json post(std::int32_t factors, const char* dot, const char* access, bool prefetch) {
  return {{"factors", factors}, {"reg", kReg},           {"alpha", 0.5},
          {"dot", dot},         {"gram_access", access}, {"prefetch", prefetch}};
}

TEST(IalsPost, EveryVariantIsCgOfTheEquation) {
  const Ratings train = clicks(37, 41, 0.2, 5);
  for (const std::int32_t f : {1, 3, 31, 32, 33, 64, 100, 128, 256, 513, 1024}) {
    const Json plain = post(f, "shuffle", "coalesced", false);
    const Dense dense = dense_of(train, default_params(find_algorithm("ials").params, plain));
    const auto want = epochs(dense, start_for(train, f), 1, SolveByCg{3});
    for (const char* dot : {"atomic", "shuffle", "warp"}) {
      for (const char* access : {"strided", "coalesced"}) {
        for (const bool prefetch : {false, true}) {
          Device device("ials", post(f, dot, access, prefetch), train);
          expect_model(device.run(1), want, 1e-3,
                       std::to_string(f) + " factors, " + dot + ", " + access +
                           (prefetch ? ", prefetch" : ""));
        }
      }
    }
  }
}

TEST(IalsPost, AWarpTakesLongRows) {
  const Ratings train = clicks(9, 11, 0.4, 15);
  for (const std::int32_t f : {1025, 1100, 2048}) {
    Device device("ials", post(f, "warp", "coalesced", true), train);
    const auto want = epochs(dense_of(train, device.params), device.start, 1, SolveByCg{3});
    expect_model(device.run(1), want, 1e-3, std::to_string(f) + " factors");
  }
}

TEST(IalsPost, StepsAreCounted) {
  const Ratings train = clicks(30, 23, 0.3, 6);
  for (const char* dot : {"atomic", "shuffle", "warp"}) {
    for (const int steps : {1, 2, 4}) {
      Json changes = post(20, dot, "coalesced", true);
      changes["cg_steps"] = steps;
      Device device("ials", changes, train);
      const auto want = epochs(dense_of(train, device.params), device.start, 1, SolveByCg{steps});
      expect_model(device.run(1), want, 1e-3, std::string(dot) + ", " + std::to_string(steps));
    }
  }
}

TEST(IalsPost, OnePopularItem) {
  const Ratings train = clicks(3000, 8, 0.05, 7);  // item 2 has 2,999 users
  for (const char* dot : {"atomic", "shuffle", "warp"}) {
    Device device("ials", post(40, dot, "coalesced", true), train);
    const auto want = epochs(dense_of(train, device.params), device.start, 1, SolveByCg{3});
    expect_model(device.run(1), want, 1e-3, dot);
  }
}

TEST(IalsPost, AnyNumberOfThreadBlocksGivesTheSameBits) {
  const Ratings train = clicks(61, 37, 0.2, 8);
  for (const char* dot : {"shuffle", "warp"}) {
    const Json changes = post(33, dot, "coalesced", true);
    const Model want = Device("ials", changes, train).run(3);
    for (const int blocks : {1, 7, 1024}) {
      Json other = changes;
      other["blocks"] = blocks;
      expect_same(Device("ials", other, train).run(3), want, dot + std::to_string(blocks));
    }
  }
  // Neither does the order of reads.
  expect_same(Device("ials", post(33, "shuffle", "coalesced", false), train).run(3),
              Device("ials", post(33, "shuffle", "coalesced", true), train).run(3), "prefetch");
}

TEST(IalsPost, EndsWhereTheResidualVanishes) {
  const Ratings train = clicks(20, 17, 0.3, 9);
  for (const char* dot : {"atomic", "shuffle", "warp"}) {
    const Json changes = post(12, dot, "coalesced", true);
    // Y = 0: the first step ends at x = 0 exactly or nearly so; Y then stays 0, as its b is. From
    // X = 0 even the first residual is zero.
    Model start = start_for(train, 12);
    std::fill(start.q.begin(), start.q.end(), 0.0F);
    const Model once = Device("ials", changes, train, start).run(2);
    for (const float x : once.p) EXPECT_NEAR(x, 0, 1e-6);
    for (const float y : once.q) EXPECT_NEAR(y, 0, 1e-6);
    std::fill(start.p.begin(), start.p.end(), 0.0F);
    const Model zero = Device("ials", changes, train, start).run(2);
    for (const float x : zero.p) EXPECT_EQ(x, 0.0F);
    for (const float y : zero.q) EXPECT_EQ(y, 0.0F);
  }
}

TEST(IalsPost, WhatIsNoNumberGoesOn) {
  const Ratings train = all_pairs(6, 5);
  for (const char* dot : {"atomic", "shuffle", "warp"}) {
    Model start = start_for(train, 12);
    start.q[5] = std::numeric_limits<float>::quiet_NaN();
    Device device("ials", post(12, dot, "coalesced", true), train, start);
    device.runner.run(1, 1, 0);
    const Model model = device.runner.model();
    for (const float x : model.p) EXPECT_TRUE(std::isnan(x)) << dot;
    for (const float y : model.q) EXPECT_TRUE(std::isnan(y)) << dot;
  }
}

TEST(IalsPost, RowsWithoutObservedPairsAreZero) {
  std::vector<Rating> list = {
      {0, 0, 0}, {1, 0, 2}, {1, 1, 0}, {2, 0, 1}, {2, 2, 3}};  // 0: not seen
  const Ratings train = mf::test::ratings_of(4, 4, list);
  for (const Json& solve :
       {Json{{"solve", "cg"}}, Json{{"solve", "cg"}, {"dot", "warp"}}, Json{{"solve", "hermitian"}},
        Json{{"solve", "hermitian"}, {"solver", "cholesky"}}}) {
    Json changes = {{"factors", 5}, {"reg", kReg}};
    changes.update(solve);
    const Model model = Device("ials", changes, train).run(1);
    for (int k = 0; k < 5; ++k) {
      EXPECT_EQ(model.p[k], 0.0F) << solve.dump();          // user 0
      EXPECT_EQ(model.p[3 * 5 + k], 0.0F) << solve.dump();  // user 3
      EXPECT_EQ(model.q[1 * 5 + k], 0.0F) << solve.dump();  // item 1
      EXPECT_EQ(model.q[3 * 5 + k], 0.0F) << solve.dump();  // item 3
    }
  }
}

Json hermitian(std::int32_t factors, const char* solver) {
  return {{"factors", factors},
          {"reg", kReg},
          {"alpha", 0.5},
          {"solve", "hermitian"},
          {"solver", solver}};
}

TEST(IalsHermitian, BothSolversAreTheEquation) {
  const Ratings train = clicks(37, 41, 0.2, 5);
  for (const std::int32_t f : {1, 3, 16, 31, 32, 33, 48, 64, 80, 100, 128, 160, 200, 256}) {
    const std::string what = std::to_string(f) + " factors, ";
    Device by_cg("ials", hermitian(f, "cg"), train);
    const Dense dense = dense_of(train, by_cg.params);
    expect_model(by_cg.run(1), epochs(dense, by_cg.start, 1, SolveByCg{3}), 1e-3, what + "cg");
    Device exact("ials", hermitian(f, "cholesky"), train);
    expect_model(exact.run(1), epochs(dense, exact.start, 1, solve_exactly), 1e-3,
                 what + "cholesky");
  }
}

TEST(IalsHermitian, LongRowsAreTheEquation) {
  const Ratings train = clicks(9, 11, 0.4, 16);
  for (const std::int32_t f : {257, 300, 512, 1000, 2048}) {
    const std::string what = std::to_string(f) + " factors, ";
    Json changes = hermitian(f, "cg");
    changes["split_rows"] = f == 300 ? 4 : 0;
    Device by_cg("ials", changes, train);
    const Dense dense = dense_of(train, by_cg.params);
    expect_model(by_cg.run(1), epochs(dense, by_cg.start, 1, SolveByCg{3}), 1e-3, what + "cg");
    if (f > 512) continue;  // the reference takes f^3
    Device exact("ials", hermitian(f, "cholesky"), train);
    expect_model(exact.run(1), epochs(dense, exact.start, 1, solve_exactly), 1e-3,
                 what + "cholesky");
  }
}

TEST(IalsHermitian, BatchesAndPartsChangeNothing) {
  const Ratings train = clicks(300, 41, 0.2, 5);
  for (const char* solver : {"cg", "cholesky"}) {
    for (const std::int32_t f : {20, 100}) {
      Json changes = hermitian(f, solver);
      const Model want = Device("ials", changes, train).run(2);
      changes["batch_rows"] = 7;
      expect_same(Device("ials", changes, train).run(2), want, "batches");
      changes["split_rows"] = 16;
      const Model split = Device("ials", changes, train).run(2);
      cuda::expect_near(split.p, want.p, 1e-3, "parts, X");
      cuda::expect_near(split.q, want.q, 1e-3, "parts, Y");
    }
  }
}

TEST(Ials, TheSameInEveryRun) {
  const Ratings train = clicks(200, 90, 0.2, 12);
  for (const Json& changes :
       {Json{{"factors", 40}}, Json{{"factors", 40}, {"dot", "warp"}},
        Json{{"factors", 40}, {"solve", "hermitian"}, {"split_rows", 32}},
        Json{{"factors", 40}, {"solve", "hermitian"}, {"solver", "cholesky"}}}) {
    expect_same(Device("ials", changes, train).run(4), Device("ials", changes, train).run(4),
                changes.dump());
  }
  const Json blocks = {{"factors", 40}, {"block_size", 16}, {"split_rows", 32}};
  expect_same(Device("ials_pp", blocks, train).run(4), Device("ials_pp", blocks, train).run(4),
              "ials_pp");
}

Json pp(std::int32_t factors, int block_size) {
  return {{"factors", factors}, {"reg", kReg}, {"alpha", 0.5}, {"block_size", block_size}};
}

TEST(IalsPp, OneBlockIsTheExactSolution) {
  const Ratings train = clicks(37, 41, 0.2, 5);
  for (const std::int32_t f : {1, 3, 16, 17, 31, 32, 33, 64, 65, 100, 128}) {
    Device device("ials_pp", pp(f, 128), train);
    const auto want = epochs(dense_of(train, device.params), device.start, 1, solve_exactly);
    expect_model(device.run(1), want, 1e-3, std::to_string(f) + " factors");
  }
}

TEST(IalsPp, BlocksAreSolvedInTheirOrder) {
  const Ratings train = clicks(37, 41, 0.2, 5);
  for (const auto& [f, d] : {std::pair{3, 1},
                             {31, 8},
                             {33, 16},
                             {64, 32},
                             {100, 33},
                             {100, 64},
                             {256, 128},
                             {513, 100}}) {
    for (const int split : {0, 8}) {
      Json changes = pp(f, d);
      changes["split_rows"] = split;
      Device device("ials_pp", changes, train);
      const auto want = epochs(dense_of(train, device.params), device.start, 2, SolveByBlocks{d});
      expect_model(device.run(2), want, 1e-3,
                   std::to_string(f) + " factors by " + std::to_string(d) + ", split " +
                       std::to_string(split));
    }
  }
}

TEST(IalsPp, BlocksOfLongRowsAreSolvedInTheirOrder) {
  const Ratings train = clicks(9, 11, 0.4, 17);
  for (const auto& [f, d] : {std::pair{1030, 100}, {2048, 128}}) {
    Device device("ials_pp", pp(f, d), train);
    const auto want = epochs(dense_of(train, device.params), device.start, 1, SolveByBlocks{d});
    expect_model(device.run(1), want, 1e-3, std::to_string(f) + " factors");
  }
}

TEST(IalsPp, RegularizersByTheLengthOfARow) {
  const Ratings train = clicks(37, 41, 0.2, 5);
  Json changes = pp(20, 8);
  changes["reg_exponent"] = 0.5;
  Device device("ials_pp", changes, train);
  const Dense dense(train, find_algorithm("ials_pp").implicit(device.params));
  expect_model(device.run(2), epochs(dense, device.start, 2, SolveByBlocks{8}), 1e-3, "exponent");
}

TEST(IalsPp, OnePopularItemInParts) {
  const Ratings train = clicks(3000, 8, 0.05, 7);
  Json changes = pp(40, 20);
  changes["split_rows"] = 128;
  Device device("ials_pp", changes, train);
  const auto want = epochs(dense_of(train, device.params), device.start, 1, SolveByBlocks{20});
  expect_model(device.run(1), want, 1e-3, "popular");
}

}  // namespace
}  // namespace mf::ials::test
