// Striding, the item rules and the declarations of info.cpp, on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "algorithms/cu2rec/test/reference.hpp"
#include "algorithms/cu2rec/test/support.hpp"
#include "base/json/json.hpp"
#include "testing/test_support.hpp"

namespace mf::cu2rec {
namespace {

TEST(Stride, EveryIterationServesEveryUserOnce) {
  for (const std::int32_t m : {1, 2, 943, 1000}) {
    for (const std::int64_t stride : {0LL, 1LL, 250LL, 1LL << 31}) {
      for (const std::int64_t iteration : {1LL, 7LL, 999'999'999LL}) {
        const std::int32_t offset = iteration_at(iteration, stride, m).offset;
        std::vector<bool> seen(m);
        for (std::int32_t t = 0; t < m; ++t) seen[strided_user(t, offset, m)] = true;
        EXPECT_EQ(std::count(seen.begin(), seen.end(), true), m) << m << " " << stride;
      }
    }
  }
  EXPECT_EQ(strided_user(3, iteration_at(4, 250, 943).offset, 943), (3 + 250 * 4) % 943);
  // Large products and users near 2^31.
  EXPECT_EQ(strided_user(2147483600, 2147483600, 2147483647), 2147483553);
}

Model model_for(const Ratings& train, std::int32_t factors) {
  return initial_model(train.n_users(), train.n_items(), factors, ModelKind::biased, 3.0, {}, 1);
}

Settings counter_settings(ItemRule rule, const char* buffering) {
  return settings_of(rule,
                     {{"factors", 3}, {"rng", "counter"}, {"buffering", buffering}, {"reg", 0.1}});
}

// Two users, one item. Alone, each would leave its own row of Q: the last or the first stays.
TEST(ItemRules, TheRightBirdGetsTheItem) {
  const Ratings both = one_item_matrix(2);
  const Model initial = model_for(both, 3);
  const auto single = [&](std::int32_t user) {
    // The same value as in `both`, which draws them user by user.
    const Ratings one = test::ratings_of(2, 2, {{user, 0, both.values()[user]}});
    Reference reference(counter_settings(ItemRule::last_writer, "swap"), initial, 0.05);
    reference.iterate(one, 1);
    return reference.model.q;
  };
  const auto together = [&](ItemRule rule) {
    Reference reference(counter_settings(rule, "swap"), initial, 0.05);
    reference.iterate(both, 1);
    return reference.model.q;
  };
  ASSERT_NE(single(0), single(1));
  EXPECT_EQ(together(ItemRule::first_writer), single(0));
  EXPECT_EQ(together(ItemRule::last_writer), single(1));
  const auto sum = together(ItemRule::atomic);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(sum[k], single(0)[k] + single(1)[k] - initial.q[k], 1e-6);
  }
}

// docs/errata.md: with swapped buffers an item that is not drawn again goes back to its state
// before its last update.
TEST(Buffering, SwapUndoesAnUpdateOneIterationLater) {
  const Ratings train = one_item_matrix(1);
  const Ratings no_ratings = make_matrix(1, 2, {{}});
  const Model initial = model_for(train, 3);
  for (const char* buffering : {"swap", "in_place"}) {
    const Settings settings = counter_settings(ItemRule::first_writer, buffering);
    Reference reference(settings, initial, 0.05);
    reference.iterate(train, 1);
    const auto updated = reference.model.q;
    ASSERT_NE(updated, initial.q);
    reference.iterate(no_ratings, 2);
    EXPECT_EQ(reference.model.q, settings.buffering == Buffering::swap ? initial.q : updated);
  }
}

TEST(Info, SaysWhatCannotRun) {
  const auto why = [](const Json& changes) {
    const ProblemShape shape{1000, 500, 10000};
    return find_algorithm("ebgtg").supports(params_of(ItemRule::first_writer, changes), shape);
  };
  EXPECT_FALSE(why({{"threads_per_block", 256}}));
  EXPECT_HAS(why({{"threads_per_block", 100}}).value_or(""), "multiple of 32");
  EXPECT_FALSE(why({{"threads_per_block", 1024}}));
  EXPECT_TRUE(why({{"threads_per_block", 1024}, {"mapping", "warp"}}));
  EXPECT_FALSE(why({{"factors", 2000}}));
  EXPECT_TRUE(why({{"factors", 2000}, {"mapping", "warp"}}));
}

TEST(Info, DefaultsFollowTheMappingAndTheRule) {
  const ItemRule rule = ItemRule::first_writer;
  EXPECT_EQ(settings_of(rule, Json::object()).threads_per_block, 32);
  EXPECT_EQ(settings_of(rule, {{"mapping", "warp"}}).threads_per_block, 128);
  EXPECT_EQ(settings_of(rule, {{"threads_per_block", 64}}).threads_per_block, 64);
  EXPECT_EQ(settings_of(ItemRule::atomic, Json::object()).buffering, Buffering::in_place);
  EXPECT_EQ(settings_of(ItemRule::last_writer, Json::object()).buffering, Buffering::swap);
  EXPECT_EQ(settings_of(ItemRule::first_writer, Json::object()).buffering, Buffering::swap);
}

TEST(Info, OnlyAdditionsHaveAtomics) {
  EXPECT_EQ(settings_of(ItemRule::atomic, Json::object()).atomics, Atomics::vector);
  EXPECT_EQ(settings_of(ItemRule::atomic, {{"atomics", "scalar"}}).atomics, Atomics::scalar);
  EXPECT_ANY_THROW(settings_of(ItemRule::first_writer, {{"atomics", "scalar"}}));
}

TEST(Info, AnIterationIsOneUpdateAUser) {
  const ProblemShape shape{1000, 500, 10000};
  for (const char* name : {"sgd_atomic", "ebltg", "ebgtg"}) {
    EXPECT_EQ(find_algorithm(name).updates_per_epoch(shape), 1000);
  }
}

TEST(Work, CountsUsersWithRatings) {
  const Ratings train = disjoint_matrix(30);
  const Work work = iteration_work(settings_of(ItemRule::atomic, {{"factors", 8}}),
                                   count_filled(train.user_offsets()),
                                   count_different(train.items(), train.n_items()));
  EXPECT_EQ(work.updates, 20);
  EXPECT_EQ(work.flops, 20 * 93.0);
  EXPECT_EQ(work.bytes, 2 * 36.0 * (20 + 20) + 20 * 16);
}

}  // namespace
}  // namespace mf::cu2rec
