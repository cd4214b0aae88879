// Draws, the update rule, striding and the item rules, on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "algorithms/cu2rec/test/reference.hpp"
#include "algorithms/cu2rec/test/support.hpp"

namespace mf::cu2rec {
namespace {

// The known answers that its authors publish with Random123.
TEST(Philox, GivesTheKnownAnswers) {
  using Words = std::array<std::uint32_t, 4>;
  const auto run = [](Words counter, std::array<std::uint32_t, 2> key) {
    Philox philox{{counter[0], counter[1], counter[2], counter[3]}, {key[0], key[1]}};
    philox.run();
    return Words{philox.counter[0], philox.counter[1], philox.counter[2], philox.counter[3]};
  };
  EXPECT_EQ(run({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(run({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(run({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Draw, DependsOnSeedUserAndIteration) {
  std::set<std::uint32_t> seen;
  for (const std::uint64_t seed : {1ULL, 2ULL, 1ULL << 40}) {
    for (const std::int32_t user : {0, 1, 500000}) {
      for (const std::int64_t iteration : {1LL, 2LL, 1LL << 33}) {
        seen.insert(draw_counter(seed, user, iteration));
      }
    }
  }
  EXPECT_EQ(seen.size(), 27u);
}

TEST(Draw, PicksEveryRatingEquallyOften) {
  constexpr int kCount = 7;
  constexpr int kDraws = 70000;
  std::array<int, kCount> hits{};
  for (int i = 0; i < kDraws; ++i) {
    ++hits[static_cast<std::size_t>(pick(draw_counter(3, 42, i), kCount))];
  }
  double chi2 = 0;
  for (const int hit : hits) chi2 += std::pow(hit - kDraws / kCount, 2) / (kDraws / kCount);
  EXPECT_LT(chi2, 22.5) << "1 in 1000 for 6 degrees of freedom";
  EXPECT_EQ(pick(0xffffffffU, 1), 0);
  EXPECT_EQ(pick(0xffffffffU, (1LL << 31) - 1), (1LL << 31) - 2);
}

TEST(Stride, EveryIterationServesEveryUserOnce) {
  for (const std::int32_t m : {1, 2, 943, 1000}) {
    for (const std::int64_t stride : {0LL, 1LL, 250LL, 1LL << 31}) {
      for (const std::int64_t iteration : {1LL, 7LL, 999'999'999LL}) {
        const std::int32_t offset = stride_offset(stride, iteration, m);
        std::vector<bool> seen(static_cast<std::size_t>(m));
        for (std::int32_t t = 0; t < m; ++t) {
          seen[static_cast<std::size_t>(strided_user(t, offset, m))] = true;
        }
        EXPECT_EQ(std::count(seen.begin(), seen.end(), true), m) << m << " " << stride;
      }
    }
  }
  EXPECT_EQ(strided_user(3, stride_offset(250, 4, 943), 943), (3 + 250 * 4) % 943);
  // Large products and users near 2^31.
  EXPECT_EQ(strided_user(2147483600, 2147483600, 2147483647), 2147483553);
}

// -rate / 2 * d/dx of e^2 + reg_p |p|^2 + reg_q |q|^2, by central differences in double.
TEST(Rule, DescendsOnTheLoss) {
  const Hyper hyper{0.01F, 3.5F, 0.01F * 0.1F, 0.01F * 0.2F, 0, 0};
  const double p = 0.7, q = -0.4, b = 0.1, c = -0.2, r = 4;
  const auto loss = [&](double x, double y) {
    const double e = r - (3.5 + b + c + x * y);
    return e * e + 0.1 * x * x + 0.2 * y * y;
  };
  const float gain = hyper.rate * rating_error(hyper, 4.0F, 0.1F, -0.2F, static_cast<float>(p * q));
  const double h = 1e-5;
  EXPECT_NEAR(step(0.7F, -0.4F, gain, hyper.shrink_p),
              p - 0.005 * (loss(p + h, q) - loss(p - h, q)) / (2 * h), 1e-6);
  EXPECT_NEAR(step(-0.4F, 0.7F, gain, hyper.shrink_q),
              q - 0.005 * (loss(p, q + h) - loss(p, q - h)) / (2 * h), 1e-6);
  EXPECT_NEAR(gradient(-0.4F, 0.7F, gain, hyper.shrink_q),
              step(-0.4F, 0.7F, gain, hyper.shrink_q) + 0.4F, 1e-7);
}

Model model_for(const Ratings& train, std::int32_t factors) {
  return initial_model(train.n_users(), train.n_items(), factors, ModelKind::biased, 3.0, {}, 1);
}

Settings counter_settings(Buffering buffering) {
  Settings settings;
  settings.factors = 3;
  settings.generator = Generator::counter;
  settings.buffering = buffering;
  settings.reg = {0.1, 0.1, 0.1, 0.1};
  return settings;
}

// Two users, one item. Alone, each would leave its own row of Q: the last or the first stays.
TEST(ItemRules, TheRightBirdGetsTheItem) {
  const Ratings both = one_item_matrix(2);
  const Model initial = model_for(both, 3);
  const auto alone = [&](std::size_t user) {
    std::vector<std::vector<std::int32_t>> items(2);
    items[user] = {0};
    // The same value as in `both`, which draws them user by user.
    Ratings::Arrays arrays;
    arrays.users = {static_cast<std::int32_t>(user)};
    arrays.items = {0};
    arrays.values = {both.values()[user]};
    arrays.user_offsets = {0, user == 0 ? 1 : 0, 1};
    arrays.user_ids = {0, 1};
    arrays.item_ids = {0, 1};
    Reference reference(ItemRule::last_writer, counter_settings(Buffering::swap), initial, 0.05);
    reference.iterate(Ratings(std::move(arrays)), 1);
    return reference.model.q;
  };
  const auto together = [&](ItemRule rule) {
    Reference reference(rule, counter_settings(Buffering::swap), initial, 0.05);
    reference.iterate(both, 1);
    return reference.model.q;
  };
  ASSERT_NE(alone(0), alone(1));
  EXPECT_EQ(together(ItemRule::first_writer), alone(0));
  EXPECT_EQ(together(ItemRule::last_writer), alone(1));
  const auto sum = together(ItemRule::atomic);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(sum[k], alone(0)[k] + alone(1)[k] - initial.q[k], 1e-6);
  }
}

// docs/errata.md: with swapped buffers an item that is not drawn again goes back to what it was
// before its last update.
TEST(Buffering, SwapUndoesAnUpdateOneIterationLater) {
  const Ratings train = one_item_matrix(1);
  const Ratings nobody = make_matrix(1, 2, {{}});
  const Model initial = model_for(train, 3);
  for (const auto buffering : {Buffering::swap, Buffering::in_place}) {
    Reference reference(ItemRule::first_writer, counter_settings(buffering), initial, 0.05);
    reference.iterate(train, 1);
    const auto updated = reference.model.q;
    ASSERT_NE(updated, initial.q);
    reference.iterate(nobody, 2);
    EXPECT_EQ(reference.model.q, buffering == Buffering::swap ? initial.q : updated);
  }
}

TEST(Info, SaysWhatCannotRun) {
  const ProblemShape shape{1000, 500, 10000};
  EXPECT_FALSE(why_unsupported(params_of("ebgtg", {{"threads_per_block", 256}}), shape));
  const auto odd = why_unsupported(params_of("ebgtg", {{"threads_per_block", 100}}), shape);
  ASSERT_TRUE(odd);
  EXPECT_NE(odd->find("multiple of 32"), std::string::npos);
  EXPECT_FALSE(why_unsupported(params_of("ebgtg", {{"threads_per_block", 1024}}), shape));
  EXPECT_TRUE(why_unsupported(
      params_of("ebgtg", {{"threads_per_block", 1024}, {"mapping", "warp"}}), shape));
  EXPECT_FALSE(why_unsupported(params_of("ebgtg", {{"factors", 2000}}), shape));
  EXPECT_TRUE(why_unsupported(params_of("ebgtg", {{"factors", 2000}, {"mapping", "warp"}}), shape));
}

TEST(Info, MemoryCountsEveryArray) {
  const ProblemShape shape{1000, 500, 10000};
  const double swap = memory_need(params_of("ebgtg", {{"factors", 5}}), shape).device_bytes;
  EXPECT_EQ(swap, 9.0 * 4 * (1000 + 2 * 500) + 8 * 10000 + 8 * 1001 + 4 * 500 + 48 * 1000);
  const double lean =
      memory_need(
          params_of("ebgtg", {{"factors", 5}, {"buffering", "in_place"}, {"rng", "counter"}}),
          shape)
          .device_bytes;
  EXPECT_EQ(swap - lean, 9.0 * 4 * 500 + 48 * 1000);
}

TEST(Info, AnIterationIsOneUpdateAUser) {
  const ProblemShape shape{1000, 500, 10000};
  for (const char* name : {"sgd_atomic", "ebltg", "ebgtg"}) {
    EXPECT_EQ(find_algorithm(name).updates_per_epoch(shape), 1000);
  }
}

TEST(Work, CountsUsersWithRatings) {
  const Ratings train = disjoint_matrix(30);
  Settings settings;
  settings.factors = 8;
  const Work work = iteration_work(settings, train);
  EXPECT_EQ(work.updates, 20);
  EXPECT_EQ(work.flops, 20 * 93.0);
  EXPECT_EQ(work.bytes, 2 * 36.0 * (20 + 20) + 20 * 16);
}

}  // namespace
}  // namespace mf::cu2rec
