// The update rule, the tree, and the declarations of info.cpp, on the host.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "algorithms/gpusgd/test/reference.hpp"
#include "algorithms/gpusgd/test/support.hpp"
#include "base/json/json.hpp"

namespace mf::gpusgd {
namespace {

constexpr Scheme kBoth[] = {Scheme::grouped, Scheme::tree};

// docs/errata.md: as printed, the tree loses half of the products of every power of two.
TEST(Tree, AddsEveryProductOnce) {
  for (int f = 1; f <= 1024; ++f) {
    std::vector<double> weights;
    for (int k = 0; k < f; ++k) weights.push_back(k + 1);
    const std::vector<double> ones(weights.size(), 1.0);
    ASSERT_EQ(tree_dot(weights.data(), ones.data(), f), f * (f + 1) / 2.0) << f;
  }
}

// A thread that adds is not read in the same round, and no thread reads beyond the row.
TEST(Tree, RoundsHaveNoRace) {
  for (const int f : {1, 2, 3, 7, 16, 31, 33, 100, 255, 256, 1000, 1024}) {
    for (int distance = 1; distance < f; distance *= 2) {
      for (int k = 0; k < (f + 31) / 32 * 32; ++k) {
        if (!adds(k, distance, f)) continue;
        EXPECT_LT(k + distance, f);
        EXPECT_FALSE(adds(k + distance, distance, f));
      }
    }
  }
}

// By the tree as by the rule of all SGD, which sgd_rule_test compares with its equation.
TEST(Rule, IsThatOfAllSgdForBothSchemes) {
  const Ratings train = random_matrix(4, 5, 0.6, 9);
  ASSERT_GT(train.nnz(), 3);
  const Json changes = {{"factors", 7}, {"reg_p", 0.1}, {"reg_q", 0.2}};
  std::vector<Reference<double>> both;
  for (const Scheme scheme : kBoth) {
    const Params params = params_of(scheme, changes);
    both.emplace_back(read_settings(scheme, params), initial_for(train, params), 0.05);
    for (std::int64_t i = 0; i < train.nnz(); ++i) both.back().update(train[i]);
  }
  for (const auto numbers : {&Reference<double>::p, &Reference<double>::q}) {
    ASSERT_EQ((both[0].*numbers).size(), (both[1].*numbers).size());
    for (std::size_t k = 0; k < (both[0].*numbers).size(); ++k) {
      EXPECT_NEAR((both[0].*numbers)[k], (both[1].*numbers)[k], 1e-13);
    }
  }
  const Model initial = initial_for(train, params_of(Scheme::tree, changes));
  EXPECT_NE(both[1].p, std::vector<double>(initial.p.begin(), initial.p.end()));
}

double train_rmse(const Reference<double>& model, const Ratings& train) {
  const int f = model.settings.factors;
  double sum = 0;
  for (std::int64_t i = 0; i < train.nnz(); ++i) {
    const Rating rating = train[i];
    double e = rating.value;
    for (int k = 0; k < f; ++k) e -= model.p[rating.user * f + k] * model.q[rating.item * f + k];
    sum += e * e;
  }
  return std::sqrt(sum / static_cast<double>(train.nnz()));
}

// The order of the blocks changes little: the claim of the paper's figure 9.
TEST(Epochs, LearnAboutTheSameForAnyNumberOfBlocks) {
  const Ratings train = random_matrix(80, 60, 0.2);
  for (const Scheme scheme : kBoth) {
    const Params params = params_of(scheme, {{"factors", 8}});
    const Model initial = initial_for(train, params);
    std::vector<double> ends;
    for (const int blocks : {1, 8, 100}) {
      Settings settings = read_settings(scheme, params);
      settings.blocks = blocks;
      const Arrangement arrangement = arrange(settings, train);
      Reference<double> reference(settings, initial, 0.02);
      const double start = train_rmse(reference, train);
      for (int epoch = 0; epoch < 30; ++epoch) reference.run_epoch(arrangement);
      ends.push_back(train_rmse(reference, train));
      EXPECT_LT(ends.back(), 0.8 * start) << "nothing was learned";
    }
    EXPECT_NEAR(ends[1], ends[0], 0.02);
    EXPECT_NEAR(ends[2], ends[0], 0.02);
  }
}

TEST(Info, TreeThreadsAreTheFactorsInWarps) {
  for (const auto& [factors, threads] :
       {std::pair{1, 32}, {16, 32}, {32, 32}, {33, 64}, {1024, 1024}}) {
    EXPECT_EQ(settings_of(Scheme::tree, {{"factors", factors}}).threads_per_block, threads);
  }
  EXPECT_ANY_THROW(params_of(Scheme::tree, {{"factors", 1025}}));
  EXPECT_ANY_THROW(params_of(Scheme::tree, {{"blocks", 8193}}));
  const Json changes = {{"threads_per_block", 16}, {"factors", 2000}};
  EXPECT_EQ(settings_of(Scheme::grouped, changes).threads_per_block, 16);
}

TEST(Work, CountsRowsOnce) {
  const Ratings train = random_matrix(30, 20, 0.2);
  const double rows = static_cast<double>(count_filled(train.user_offsets()) +
                                          count_different(train.items(), train.n_items()));
  const auto nnz = static_cast<double>(train.nnz());
  const auto work = [&](const Json& changes) {
    return epoch_work(settings_of(Scheme::tree, changes),
                      {train.nnz(), count_filled(train.user_offsets()) +
                                        count_different(train.items(), train.n_items())});
  };
  const Work plain = work({{"factors", 5}});
  EXPECT_EQ(plain.updates, nnz);
  EXPECT_EQ(plain.bytes, 12 * nnz + 2 * rows * 5 * 4);
  EXPECT_EQ(plain.flops, nnz * 52);
  EXPECT_EQ(work({{"factors", 5}, {"precision", "fp64"}}).bytes, 12 * nnz + 2 * rows * 5 * 8);
}

}  // namespace
}  // namespace mf::gpusgd
