// als_fused and als over devices: the factors of one, bit for bit if nothing is summed over ranks.
#include <cmath>
#include <vector>

#include "algorithms/als/cumf/reduce_plan.hpp"
#include "algorithms/als/test/reference.hpp"
#include "algorithms/core/registry.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/rank_devices.hpp"
#include "testing/cuda/test_runner.hpp"

namespace mf::als {
namespace {

Model start(const Ratings& train, std::int32_t factors, bool by_rule) {
  InitSpec init;
  init.scale = 0.5;
  return by_rule
             ? model_to_make(train.n_users(), train.n_items(), factors, ModelKind::plain, 0, init)
             : initial_model(train.n_users(), train.n_items(), factors, ModelKind::plain, 0, init,
                             1);
}

struct Outcome {
  Model model;
  std::int64_t updates = 0;
  Json facts, exchanged;
};

// `changes` may name another algorithm than als_fused.
Outcome train(const Ratings& ratings, Json changes, Communicator* ranks, bool by_rule = true) {
  std::string name = "als_fused";
  if (changes.contains("name")) name = changes["name"].get<std::string>();
  changes.erase("name");
  const Params params = default_params(find_algorithm(name).params, test::papers(changes));
  const auto factors = static_cast<std::int32_t>(params.integer("factors"));
  cuda::TestRunner runner(name, params, ratings, start(ratings, factors, by_rule), 1, ranks);
  Outcome outcome;
  outcome.updates = runner.run(1, 2, 0) + runner.run(3, 1, 0);
  runner.of_ranks().gather_factors(runner.context);
  outcome.facts = runner.algorithm->facts();
  outcome.exchanged = runner.of_ranks().exchanged();
  if (ranks == nullptr || ranks->leads()) outcome.model = runner.model();
  return outcome;
}

void expect_near(const AlignedVector<float>& a, const AlignedVector<float>& b,
                 const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, static_cast<double>(std::abs(a[i] - b[i])));
  }
  EXPECT_LT(worst, 1e-3) << what;
}

// als_fused's bits are the same; libraries may solve a batch of another size in another way.
void expect_same(const Model& a, const Model& b, const Json& changes, const std::string& what) {
  if (changes.contains("name") && changes["name"] == "als") {
    expect_near(a.p, b.p, what);
    expect_near(a.q, b.q, what);
    return;
  }
  EXPECT_EQ(a.p, b.p) << what;
  EXPECT_EQ(a.q, b.q) << what;
}

std::int64_t sum_of(Communicator& ranks, const Json& facts, const char* key) {
  double value = facts.at(key).get<double>();
  ranks.all_sum(std::span(&value, 1));
  return static_cast<std::int64_t>(value);
}

// Users and items that have ratings.
double rated_rows(const Ratings& ratings) {
  std::vector<char> items(ratings.n_items(), 0);
  double rows = 0;
  for (const std::int32_t item : ratings.items()) items[item] = 1;
  for (const char rated : items) rows += rated;
  for (std::int64_t user = 0; user < ratings.n_users(); ++user) {
    rows += ratings.user_offsets()[user + 1] > ratings.user_offsets()[user] ? 1 : 0;
  }
  return rows;
}

class AlsDevices : public testing::TestWithParam<int> {};

TEST_P(AlsDevices, HaveTheFactorsOfOne) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    // Long and short rows, and rows without ratings.
    const Ratings ratings = test::planted(900, 420, 0.25, 1);
    for (const Json& changes :
         {Json{{"factors", 32}}, Json{{"factors", 100}, {"split_rows", 64}},
          Json{{"factors", 100}, {"normal", "applied"}},
          Json{{"factors", 64}, {"precision", "fp16x2"}}, Json{{"factors", 250}},
          Json{{"factors", 48}, {"reg", 0.8}, {"reg_power", 0.5}, {"first", "items"}},
          Json{{"name", "als"}, {"factors", 12}, {"reg_power", 0.5}, {"first", "items"}},
          Json{{"name", "als"}, {"factors", 40}, {"batch_rows", 70}, {"split_rows", 64}},
          Json{{"name", "als"}, {"factors", 16}, {"solver", "lu"}},
          Json{{"name", "als"}, {"factors", 16}, {"solver", "cholesky"}}}) {
      for (const bool by_rule : {true, false}) {
        const Outcome single = train(ratings, changes, nullptr, by_rule);
        const Outcome many = train(ratings, changes, &ranks, by_rule);
        EXPECT_EQ(many.updates, single.updates);
        EXPECT_TRUE(single.exchanged.is_null());
        EXPECT_GT(many.exchanged["seconds_s"], 0) << changes.dump();
        EXPECT_EQ(sum_of(ranks, many.facts, "own_users"), ratings.n_users());
        EXPECT_EQ(sum_of(ranks, many.facts, "own_items"), ratings.n_items());
        EXPECT_EQ(sum_of(ranks, many.facts, "own_ratings_by_user"), ratings.nnz());
        EXPECT_EQ(sum_of(ranks, many.facts, "own_ratings_by_item"), ratings.nnz());
        if (ranks.leads()) expect_same(many.model, single.model, changes, changes.dump());
      }
    }
  });
}

// Sums over ranks are rounded in another order than sums over a row's ratings; so the solvers are
// exact here, or end at once.
TEST_P(AlsDevices, ReduceToTheFactorsOfOne) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    const Ratings ratings = test::planted(900, 420, 0.25, 1);
    const Json converged = {{"cg_steps", 60}, {"cg_tolerance", 1e-6}};
    for (const Json& own :
         {Json{{"factors", 12}, {"reg_power", 0.5}, {"first", "items"}, {"solver", "cholesky"}},
          Json{{"factors", 40}, {"batch_rows", 70}, {"split_rows", 16}, {"solver", "lu"}},
          Json{{"factors", 20}, {"load", "coalesced"}, {"center", "biases"}},
          Json{{"factors", 24}, {"batch_rows", 1}, {"center", "mean"}}}) {
      Json changes = own;
      changes["name"] = "als";
      if (!changes.contains("solver")) changes.update(converged);
      Json reduced = changes;
      reduced["exchange"] = "reduce";
      for (const bool by_rule : {true, false}) {
        const Outcome single = train(ratings, changes, nullptr, by_rule);
        const Outcome many = train(ratings, reduced, &ranks, by_rule);
        EXPECT_EQ(many.updates, single.updates);
        EXPECT_EQ(sum_of(ranks, many.facts, "own_ratings_by_user"), ratings.nnz());
        EXPECT_EQ(sum_of(ranks, many.facts, "own_ratings_by_item"), ratings.nnz());
        const double bytes = 3.0 * (ranks.size() - 1) * rated_rows(ratings) *
                             reduced_system_bytes(own.at("factors").get<int>());
        for (const char* key : {"bytes_sent", "bytes_received"}) {
          EXPECT_EQ(static_cast<double>(sum_of(ranks, many.exchanged, key)), bytes) << key;
        }
        if (ranks.leads()) expect_same(many.model, single.model, changes, reduced.dump());
      }
    }
  });
}

// A in fp16, and CG as published: the same model by its RMSE.
TEST_P(AlsDevices, ReduceAsTheyGather) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    const Ratings ratings = test::planted(900, 420, 0.25, 1);
    for (const char* storage : {"fp32", "fp16"}) {
      const Json changes = {{"name", "als"}, {"factors", 100}, {"a_storage", storage}};
      Json reduced = changes;
      reduced["exchange"] = "reduce";
      const Outcome gathered = train(ratings, changes, &ranks);
      const Outcome many = train(ratings, reduced, &ranks);
      // In a second run the same bits.
      const Outcome again = train(ratings, reduced, &ranks);
      if (!ranks.leads()) continue;
      EXPECT_EQ(many.model.p, again.model.p);
      EXPECT_EQ(many.model.q, again.model.q);
      EXPECT_NEAR(test::rmse(many.model.view(), ratings),
                  test::rmse(gathered.model.view(), ratings), 1e-4)
          << storage;
    }
  });
}

TEST_P(AlsDevices, RemoveTheSameCenter) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    const Ratings ratings = test::planted(300, 200, 0.3, 2);
    for (const char* center : {"mean", "biases", "solved"}) {
      for (const char* name : {"als_fused", "als"}) {
        // als_fused refuses several devices here.
        if (center == std::string("solved") && name == std::string("als_fused")) continue;
        const Json changes = {{"name", name}, {"factors", 24}, {"center", center}};
        const Outcome single = train(ratings, changes, nullptr);
        const Outcome many = train(ratings, changes, &ranks);
        if (!ranks.leads()) continue;
        EXPECT_NEAR(many.model.mean, single.model.mean, 1e-9);
        expect_near(many.model.user_bias, single.model.user_bias, center);
        expect_near(many.model.item_bias, single.model.item_bias, center);
        EXPECT_NEAR(test::rmse(many.model.view(), ratings),
                    test::rmse(single.model.view(), ratings), 1e-4);
      }
    }
  });
}

// Some ranks have no row of one side, or of both.
TEST_P(AlsDevices, MayHaveNothingToDo) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    for (const auto& [users, items] : {std::pair{1, 1}, {1, 40}, {40, 1}, {3, 2}}) {
      std::vector<Rating> list;
      for (std::int32_t user = 0; user < users; ++user) {
        for (std::int32_t item = 0; item < items; ++item) {
          list.push_back({user, item, static_cast<float>(1 + (user + item) % 5)});
        }
      }
      const Ratings ratings = test::ratings_of(users, items, list);
      for (const auto& [name, exchange] :
           {std::pair{"als_fused", ""}, {"als", "gather"}, {"als", "reduce"}}) {
        const Json changes = {{"name", name}, {"factors", 8}, {"reg", 0.5}};
        Json exchanged = changes;
        if (exchange[0] != 0) exchanged["exchange"] = exchange;
        const Outcome single = train(ratings, changes, nullptr);
        const Outcome many = train(ratings, exchanged, &ranks);
        if (!ranks.leads()) continue;
        expect_same(many.model, single.model, changes,
                    fmt::format("{} {}, {} x {}", name, exchange, users, items));
      }
    }
  });
}

// More than one part of the rows is exchanged, beside the next.
TEST_P(AlsDevices, ExchangeInParts) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    const std::int32_t users = 300000;
    Rng rng(3);
    std::vector<Rating> list;
    for (std::int32_t user = 0; user < users; ++user) {
      const auto count = static_cast<std::int32_t>(20 * rng.uniform());
      for (std::int32_t k = 0; k < count; ++k) {
        list.push_back({user, k * 50 + user % 50, 1 + static_cast<float>(4 * rng.uniform())});
      }
    }
    const Ratings ratings = test::ratings_of(users, 1000, list);
    const Json changes = {{"factors", 128}};
    const Outcome single = train(ratings, changes, nullptr);
    const Outcome many = train(ratings, changes, &ranks);
    const int parts = many.facts["user_exchange_parts"];
    EXPECT_GT(parts, 1);
    EXPECT_EQ(many.facts["item_exchange_parts"], 1);
    EXPECT_EQ(many.exchanged["count"], 3 * (parts + 1));
    if (ranks.leads()) expect_same(many.model, single.model, changes, "parts");
  });
}

// A case after a case uses the same connections, and no memory is left behind.
TEST_P(AlsDevices, AreUsedAgain) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    const Ratings ratings = test::planted(90, 50, 0.3, 4);
    const Outcome first = train(ratings, {{"factors", 16}}, &ranks);
    const std::int64_t held = cuda::allocated_bytes();
    const Outcome second = train(ratings, {{"factors", 16}}, &ranks);
    EXPECT_EQ(cuda::allocated_bytes(), held);
    EXPECT_EQ(first.exchanged["count"], second.exchanged["count"]);
    if (ranks.leads()) expect_same(first.model, second.model, Json::object(), "again");
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, AlsDevices, testing::Values(2, 3, 4));

}  // namespace
}  // namespace mf::als
