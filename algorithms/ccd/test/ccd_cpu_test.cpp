#include <gtest/gtest.h>

#include "algorithms/ccd/cpu/side.hpp"
#include "algorithms/ccd/test/reference.hpp"
#include "base/error.hpp"
#include "base/host/isa.hpp"
#include "base/json/json.hpp"
#include "testing/models.hpp"
#include "testing/test_support.hpp"
#include "testing/trainer.hpp"

namespace mf::ccd {
namespace {

using test::planted;

struct Trainer : mf::test::Trainer {
  Trainer(const Json& changes, const Ratings& ratings, int threads = 1)
      : mf::test::Trainer("ccd++_cpu", test::papers(changes), ratings, mf::test::plain_start,
                          threads),
        settings(read_settings(params)) {}
  Settings settings;
};

void expect_reference(const Json& changes, const Ratings& train, int epochs) {
  Trainer trainer(changes, train, 2);
  test::Reference reference(train, trainer.settings, trainer.initial);
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    trainer.run(1);
    reference.epoch();
    EXPECT_LT(test::furthest(trainer.model(), reference), 2e-3) << changes.dump() << epoch;
  }
  EXPECT_EQ(trainer.updates, epochs * 2 * train.nnz());
}

TEST(CcdCpu, AnEpochIsThatOfThePaper) {
  const Ratings train = planted(130, 70, 0.3, 1);
  for (const char* residual : {"separate", "fused"}) {
    for (const char* scale : {"plain", "rows"}) {
      for (const char* start : {"model", "zero"}) {
        for (const int f : {1, 2, 7}) {
          for (const int inner : {1, 2, 3}) {
            expect_reference({{"factors", f},
                              {"reg", scale == std::string("plain") ? 2.0 : 0.05},
                              {"reg_scale", scale},
                              {"residual", residual},
                              {"start", start},
                              {"inner_iterations", inner}},
                             train, 3);
          }
        }
      }
    }
  }
}

TEST(CcdCpu, AnEpochOfAllInstructionSetsIsThatOfThePaper) {
  const Ratings train = planted(90, 150, 0.4, 2);
  for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
    if (!has(isa)) continue;  // choose_isa has a test that refuses it
    for (const char* residual : {"separate", "fused"}) {
      expect_reference({{"factors", 20}, {"simd", to_string(isa)}, {"residual", residual}}, train,
                       2);
    }
  }
}

// A user with 20,000 ratings, an item with most users; and tiles of users.
Ratings with_giants() {
  std::vector<Rating> list;
  Rng rng(8);
  for (std::int32_t u = 0; u < 40'000; ++u) {
    for (std::int32_t i = 0; i < (u == 7 ? 20'000 : 50); ++i) {
      if (u != 7 && rng.uniform() < 0.3) continue;
      list.push_back({u, i, static_cast<float>(1 + rng.below(5))});
    }
  }
  return test::ratings_of(40'000, 20'000, list);
}

TEST(CcdCpu, ThreadsDoNotChangeTheResult) {
  const Ratings train = with_giants();
  for (const char* residual : {"separate", "fused"}) {
    const Json changes = {{"factors", 3}, {"residual", residual}, {"inner_iterations", 2}};
    Trainer one(changes, train, 1);
    one.run(2);
    const Model expected = one.model();
    for (const int threads : {2, 3, 8}) {
      Trainer several(changes, train, threads);
      several.run(2);
      SCOPED_TRACE(threads);
      mf::test::expect_same(several.model(), expected);
    }
  }
}

TEST(CcdCpu, GiantRowsAndTilesAreThoseOfThePaper) {
  std::vector<Rating> list;
  Rng rng(9);
  for (std::int32_t u = 0; u < 70'000; ++u) {  // three tiles of users
    for (std::int32_t i = 0; i < 4; ++i) {
      list.push_back({u, i, static_cast<float>(1 + rng.below(5))});
    }
  }
  const Ratings train = test::ratings_of(70'000, 4, list);
  expect_reference({{"factors", 3}, {"reg", 1}}, train, 2);
  Trainer trainer({{"factors", 3}}, train);
  EXPECT_EQ(trainer.algorithm->facts()["user_tiles"], 3);
  EXPECT_EQ(trainer.algorithm->facts()["item_tiles"], 1);
}

TEST(CcdCpu, OneWideTileWhereRowsAreShort) {
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < 70'000; ++u) list.push_back({u, u, static_cast<float>(1 + u % 5)});
  const Ratings train = test::ratings_of(70'000, 70'001, list);
  Trainer trainer({{"factors", 2}, {"reg", 0.1}}, train, 2);
  EXPECT_EQ(trainer.algorithm->facts()["user_tiles"], 1);
  test::Reference reference(train, trainer.settings, trainer.initial);
  trainer.run(2);
  reference.epoch();
  reference.epoch();
  EXPECT_LT(test::furthest(trainer.model(), reference), 1e-4);
}

TEST(CcdCpu, RowsWithoutRatingsAreZero) {
  const Ratings train = planted(50, 40, 0.2, 4);
  for (const char* scale : {"plain", "rows"}) {
    for (const double reg : {0.0, 0.05}) {
      Trainer trainer({{"factors", 5}, {"reg", reg}, {"reg_scale", scale}}, train);
      trainer.run(2);
      const Model m = trainer.model();
      for (int k = 0; k < 5; ++k) {
        EXPECT_EQ(m.p[k], 0.0F);      // user 0
        EXPECT_EQ(m.q[5 + k], 0.0F);  // item 1
        EXPECT_NE(m.p[5 + k], 0.0F);  // user 1
        EXPECT_TRUE(std::isfinite(m.q[k]));
      }
    }
  }
}

TEST(CcdCpu, AMatrixWithoutRatingsRuns) {
  const Ratings train = test::ratings_of(4, 3, {});
  Trainer trainer({{"factors", 5}}, train, 2);
  trainer.run(2);
  EXPECT_EQ(trainer.updates, 0);
  for (const float x : trainer.model().p) EXPECT_EQ(x, 0.0F);
}

// ---- the residual

struct SidePair {
  SidePair(const Ratings& ratings, const Settings& settings, const Model& initial, ThreadTeam& t)
      : team(t),
        first(settings, initial),
        columns(make_csc(ratings, 1)),
        users(settings, {ratings.user_offsets(), ratings.items(), ratings.n_items()}, initial.p,
              team,
              [&](std::int64_t u, std::int64_t at) {
                return first(u, ratings.items()[at], ratings.values()[at]);
              }),
        items(settings, {columns.item_offsets, columns.users, ratings.n_users()}, initial.q, team,
              [&](std::int64_t i, std::int64_t at) {
                return first(columns.users[at], i, columns.values[at]);
              }) {}
  cpu::Side& side(Half half) { return half == Half::users ? users : items; }
  cpu::Side& other(Half half) { return half == Half::users ? items : users; }
  void change(Half half, int k, float sign) {
    side(half).change(loops, k, sign, other(half).vector(k), team);
  }
  void exchange(Half half, int k, int held) {
    const float* now = other(half).vector(k);
    const float* old = half == Half::users ? now : users.old();
    side(half).exchange(loops, k, held, {other(half).vector(held), old, now}, team);
  }
  void solve(Half half, int k) { side(half).solve(loops, k, other(half).vector(k), team); }

  ThreadTeam& team;
  FirstResidual first;
  Csc columns;
  cpu::Kernels loops = cpu::kernels(choose_isa("auto"));
  cpu::Side users, items;
};

// After many epochs, in fp32: equal on both sides to the last bit, and to r - P Q^T up to the
// rounding of 2 f additions an epoch.
TEST(CcdCpu, TheResidualStaysThatOfTheModel) {
  const Ratings train = planted(150, 90, 0.4, 5);
  constexpr int kEpochs = 200;
  for (const char* residual : {"separate", "fused"}) {
    const Params params =
        test::params_of("ccd++_cpu", {{"factors", 8}, {"residual", residual}, {"reg", 1}});
    const Settings settings = read_settings(params);
    const Model initial = test::start_for(train, 8);
    ThreadTeam team(2);
    SidePair sides(train, settings, initial, team);
    int held = kNone;
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      for (int k = 0; k < 8; ++k) sweep_factor(settings.sweep, k, held, sides);
    }
    Model model = initial;
    sides.users.pack(model.p, team);
    sides.items.pack(model.q, team);
    Settings of_model = settings;
    of_model.start = Start::model;
    const test::Reference exact(train, of_model, model);
    double worst = 0;
    for (std::int64_t at = 0; at < train.nnz(); ++at) {  // one tile: the layout is CSR
      double expected = exact.r[at];
      if (held != kNone) expected += exact.p[held][train[at].user] * exact.q[held][train[at].item];
      worst = std::max(worst, std::abs(sides.users.residual(at) - expected));
    }
    EXPECT_LT(worst, 5e-5) << residual;
    EXPECT_GT(worst, 0) << residual;
    std::vector<std::int64_t> next(sides.columns.item_offsets.begin(),
                                   sides.columns.item_offsets.end());
    for (std::int64_t at = 0; at < train.nnz(); ++at) {
      ASSERT_EQ(sides.items.residual(next[train[at].item]++), sides.users.residual(at));
    }
  }
}

TEST(CcdCpu, StopsBetweenFactorsAndGoesOn) {
  const Ratings train = planted(60, 50, 0.3, 6);
  const Json changes = {{"factors", 4}};
  Trainer trainer(changes, train);
  int polls = 0;
  trainer.context.stop_requested = [&] { return ++polls == 2; };
  trainer.run(1);
  EXPECT_EQ(trainer.updates, 2 * train.nnz() / 2);  // two of four factors
  const Model stopped = trainer.model();
  EXPECT_NE(stopped.p[4 + 1], trainer.initial.p[4 + 1]);
  EXPECT_EQ(stopped.p[4 + 2], trainer.initial.p[4 + 2]);
  trainer.context.stop_requested = {};
  trainer.run(20);
  EXPECT_LT(test::objective(train, trainer.settings, trainer.model()),
            test::objective(train, trainer.settings, stopped));
}

TEST(CcdCpu, FactorsAreOfTheRatingsWithoutTheirCenter) {
  const Ratings train = planted(60, 40, 0.3, 4);
  const Json changes = {{"factors", 3}, {"reg", 2}, {"start", "zero"}};
  Json centered = changes;
  centered["center"] = "biases";
  Trainer trainer(centered, train);
  trainer.run(2);
  const Model model = trainer.model();
  ASSERT_EQ(model.kind, ModelKind::biased);
  auto arrays = mf::test::arrays_of(train);
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    arrays.values[k] -= static_cast<float>(model.mean) + model.user_bias[arrays.users[k]] +
                        model.item_bias[arrays.items[k]];
  }
  const Ratings rest(std::move(arrays));
  const auto same_start = [&](const Ratings&, const Params&) { return trainer.initial; };
  mf::test::Trainer plain("ccd++_cpu", test::papers(changes), rest, same_start);
  plain.run(2);
  const Model of_rest = plain.model();
  for (std::size_t k = 0; k < model.p.size(); ++k) EXPECT_NEAR(model.p[k], of_rest.p[k], 1e-4);
}

// ---- parameters

TEST(CcdParams, MoreRatingsThanCanBeNumberedAreRefused) {
  const AlgorithmInfo& info = find_algorithm("ccd++_cpu");
  const Params params = default_params(info.params);
  EXPECT_FALSE(info.supports(params, {10, 10, 100}));
  const auto why = info.supports(params, {1 << 30, 1 << 30, std::int64_t{1} << 33});
  EXPECT_HAS(why.value_or(""), "4294967295");
}

TEST(CcdWork, CountsWhatTheReadmeDerives) {
  const Ratings train = test::ratings_of(3, 2, {{0, 0, 1}, {0, 1, 2}, {2, 0, 6}});
  Settings s = read_settings(test::params_of("ccd++_cpu", {{"factors", 4}}));
  const Work work = epoch_work(s, train.nnz(), 4);  // 2 users and 2 items have ratings
  EXPECT_EQ(work.updates, 6);
  EXPECT_DOUBLE_EQ(work.bytes, 4 * (3 * 20 + 4 * 8));
  EXPECT_DOUBLE_EQ(work.flops, 4 * (3 * 16 + 4 * 2));
  s.sweep.inner = 3;
  EXPECT_DOUBLE_EQ(epoch_work(s, train.nnz(), 4).bytes, 4 * (3 * (20 + 24) + 4 * 24));
  EXPECT_DOUBLE_EQ(epoch_work(s, train.nnz(), 4).flops, 4 * (3 * (16 + 16) + 4 * 6));
}

}  // namespace
}  // namespace mf::ccd
