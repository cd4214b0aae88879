// svdpp_cpu against the equations of the paper, which move every y_j at each rating.
#include <gtest/gtest.h>

#include "algorithms/svdpp/test/reference.hpp"

namespace mf::svdpp {
namespace {

using mf::test::planted;
using mf::test::Trainer;
using test::Reference;
using test::start;

TEST(Svdpp, TheReferenceStepsDownItsLoss) {
  const Ratings train = planted(5, 6, .5, 1, .5, .1);
  const Params params = default_params(
      find_algorithm("svdpp_cpu").params,
      {{"factors", 3}, {"reg_p", .1}, {"reg_q", .2}, {"reg_y", .3}, {"reg_user_bias", .4}});
  const Rating rating = train[train.nnz() / 2];
  Reference from(train, params), to(train, params);
  from.b[rating.user] = to.b[rating.user] = .3;
  from.c[rating.item] = to.c[rating.item] = -.2;
  constexpr double kRate = 1e-3, kStep = 1e-5;
  to.update(rating, kRate);
  for (const auto numbers :
       {&Reference::p, &Reference::q, &Reference::y, &Reference::b, &Reference::c}) {
    for (std::size_t k = 0; k < (from.*numbers).size(); ++k) {
      Reference above = from, below = from;
      (above.*numbers)[k] += kStep;
      (below.*numbers)[k] -= kStep;
      const double slope = (above.loss(rating) - below.loss(rating)) / (2 * kStep);
      EXPECT_NEAR((to.*numbers)[k] - (from.*numbers)[k], -kRate * slope, 1e-10);
    }
  }
}

TEST(Svdpp, IsTheReferenceThatMovesAllOfYAtEachRating) {
  const Ratings train = planted(40, 30, .3, 1, .5, .1);
  for (const int f : {1, 7, 20}) {
    const Json changes = {{"factors", f}, {"reg", .05}, {"reg_q", .1}, {"reg_y", .4}};
    Trainer trainer("svdpp_cpu", changes, train, start);
    Reference reference(train, trainer.params);
    EXPECT_LT(test::largest_difference(trainer.model(), reference), 1e-6);
    for (int epoch = 1; epoch <= 4; ++epoch) {
      trainer.run(1, .02);
      reference.run(trainer.context.seed, epoch, .02);
      EXPECT_LT(test::largest_difference(trainer.model(), reference), 1e-5) << f;
    }
    EXPECT_EQ(trainer.updates, 4 * train.nnz());
  }
}

TEST(Svdpp, ThreadsChangeNothing) {
  const Ratings train = planted(150, 60, .3, 1, .5, .1);
  Trainer one("svdpp_cpu", {{"factors", 5}}, train, start);
  Trainer three("svdpp_cpu", {{"factors", 5}}, train, start, 3);
  one.run(3, .01);
  three.run(3, .01);
  mf::test::expect_same(one.model(), three.model());
}

TEST(Svdpp, ARowWithoutRatingsStays) {
  const Ratings train = planted(12, 9, .4, 1, .5, .1);  // user 0 and item 1 have none
  Trainer trainer("svdpp_cpu", {{"factors", 4}}, train, start);
  const Model before = trainer.model();
  trainer.run(2, .02);
  const Model after = trainer.model();
  EXPECT_TRUE(std::equal(before.p.begin(), before.p.begin() + 4, after.p.begin()));
  EXPECT_TRUE(std::equal(before.q.begin() + 4, before.q.begin() + 8, after.q.begin() + 4));
  EXPECT_EQ(after.user_bias[0], 0);
  EXPECT_EQ(after.item_bias[1], 0);
  EXPECT_FALSE(std::equal(before.p.begin() + 4, before.p.end(), after.p.begin() + 4));
}

TEST(Svdpp, LongHistoriesAllowFewWorkers) {
  EXPECT_EQ(default_workers({3200, 3200, 3200 * 200}), 14);  // 170 x 3,200 / 200^2
  EXPECT_EQ(default_workers({3200, 3200, 3200 * 4}), 100);   // a 32nd of the smaller side
  EXPECT_EQ(default_workers({7, 5, 20}), 1);
  EXPECT_EQ(default_workers({0, 0, 0}), 1);
}

TEST(Svdpp, WorkIsThatOfTheReadme) {
  const Ratings train = planted(12, 9, .4, 1, .5, .1);
  Trainer trainer("svdpp_cpu", {{"factors", 4}}, train, start);
  const Work work = trainer.algorithm->work_per_epoch();
  const auto nnz = static_cast<double>(train.nnz());
  EXPECT_EQ(work.updates, nnz);
  EXPECT_EQ(work.bytes, 8 * nnz + 2 * 4 * (5 * (11 + 8) + 4 * 8));
  EXPECT_EQ(work.flops, nnz * (18 * 4 + 13));
}

}  // namespace
}  // namespace mf::svdpp
