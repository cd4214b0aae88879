// bpr and bpr_tiled on the device against the equations on the host: one triple exactly, epochs of
// many by a small step with the same draws, whose order then does not matter.
#include <cmath>
#include <vector>

#include "algorithms/bpr/test/reference.hpp"
#include "algorithms/core/registry.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/trainer.hpp"

namespace mf::bpr::test {
namespace {

using cuda::TestRunner;

Reference reference_of(const std::string& name, const Params& params, const Ratings& train,
                       const Model& initial) {
  Settings settings = read_settings(params);
  settings.tiled = name == "bpr_tiled";
  return {settings, train, initial};
}

Model start(const Ratings& train, std::int32_t f, double scale) {
  return initial_model(train.n_users(), train.n_items(), f, ModelKind::plain, 0,
                       {InitKind::normal, scale, 5}, 1);
}

Params params_of(const std::string& name, const Json& changes) {
  return default_params(find_algorithm(name).params, changes);
}

// One pair: an epoch is one triple. Many negatives need more items, so that none comes twice.
void expect_exact(const std::string& name, Json changes, double tolerance, std::int32_t items = 3) {
  const Ratings train = mf::test::ratings_of(2, items, {{1, 1, 2}});
  const Params params = params_of(name, changes);
  const Model initial = start(train, changes["factors"], 0.3);
  TestRunner runner(name, params, train, initial);
  Reference reference = reference_of(name, params, train, initial);
  for (std::int64_t epoch = 1; epoch <= 6; ++epoch) {
    EXPECT_EQ(runner.run(epoch, 1, 0.1), 1);
    reference.run(epoch, 0.1);
  }
  if (reference.of.cosine()) reference.scale_items();
  const std::string what = name + " " + changes.dump();
  cuda::expect_near(runner.model().p, reference.p, tolerance, what + " P");
  cuda::expect_near(runner.model().q, reference.q, tolerance, what + " Q");
  EXPECT_TRUE(runner.padding_is_zero) << what;
}

TEST(BprOnDevice, ATripleIsTheEquation) {
  for (const int f : {1, 3, 16, 17, 45, 100, 128, 200, 300, 512}) {
    for (const char* loss : {"bpr", "warp", "logistic"}) {
      const Json of_loss = {{"factors", f}, {"loss", loss}, {"reg", 0.02}};
      const double fp32 = loss == std::string("warp") ? 2e-3 : 1e-4;  // H(rank) is good to .002
      expect_exact("bpr", of_loss, fp32);
      for (const auto& [storage, tolerance] :
           {std::pair{"fp32", fp32}, std::pair{"fp16", 2e-2}, std::pair{"bf16", 1e-1}}) {
        Json tiled = of_loss;
        tiled["storage"] = storage;
        expect_exact("bpr_tiled", tiled, tolerance);
      }
    }
  }
  expect_exact("bpr", {{"factors", 20}, {"negatives", "popular"}}, 1e-4);
}

TEST(BprOnDevice, APairWithManyNegativesIsTheEquation) {
  for (const int f : {3, 45, 128, 512}) {
    for (const int n : {2, 41}) {
      for (const char* loss : {"bpr", "ccl"}) {
        const Json of_loss = {{"factors", f},  {"loss", loss},           {"negatives_per_pair", n},
                              {"margin", 0.1}, {"negative_weight", 3.0}, {"reg", 0.02}};
        constexpr std::int32_t kItems = 1 << 16;
        expect_exact("bpr", of_loss, 1e-3, kItems);
        for (const auto& [storage, tolerance] :
             {std::pair{"fp32", 1e-3}, std::pair{"fp16", 3e-2}, std::pair{"bf16", 1.5e-1}}) {
          if (loss == std::string("ccl") && storage == std::string("bf16")) continue;
          Json tiled = of_loss;
          tiled["storage"] = storage;
          expect_exact("bpr_tiled", tiled, tolerance, kItems);
        }
      }
    }
  }
}

// |change - change of the reference| over |change of the reference|, of all elements together.
double distance(const AlignedVector<float>& to, const std::vector<double>& reference,
                const std::vector<double>& from) {
  double apart = 0, moved = 0;
  for (std::size_t k = 0; k < reference.size(); ++k) {
    apart += std::pow(static_cast<double>(to[k]) - reference[k], 2);
    moved += std::pow(reference[k] - from[k], 2);
  }
  return std::sqrt(apart / moved);
}

void expect_epoch(const std::string& name, Json changes) {
  if (name == "bpr_tiled") changes["storage"] = "fp32";
  const Ratings train = tastes(301, 203);
  const Params params = params_of(name, changes);
  const Model initial = start(train, static_cast<std::int32_t>(params.integer("factors")), 0.3);
  TestRunner runner(name, params, train, initial);
  Reference reference = reference_of(name, params, train, initial);
  reference.run(1, 0);  // sets the biases
  Reference before = reference;
  // The negatives of a pair share its step, which must stay above fp32's rounding for each. A step
  // down ccl's loss turns a row by rate / |row|^2, so by as much for any f with this rate; more
  // would bring user 1 and the one item that it lacks past the margin, where the order matters.
  const double f = static_cast<double>(params.integer("factors"));
  const double many = reference.of.cosine() ? 1.25e-6 * f : 1e-4;
  const double small = params.integer("negatives_per_pair") > 1 ? many : 1e-5;
  reference.run(1, small);
  EXPECT_EQ(runner.run(1, 1, small), train.nnz());
  if (reference.of.cosine()) {
    before.scale_items();
    reference.scale_items();
  }
  const Model model = runner.model();
  EXPECT_LT(distance(model.p, reference.p, before.p), 0.03) << name << changes;
  EXPECT_LT(distance(model.q, reference.q, before.q), 0.03) << name << changes;
}

TEST(BprOnDevice, AnEpochHasTheDrawsOfTheHost) {
  for (const char* name : {"bpr", "bpr_tiled"}) {
    for (const int f : {8, 24, 64, 128, 250}) {
      for (const char* loss : {"bpr", "warp", "logistic"}) {
        expect_epoch(name, {{"factors", f}, {"loss", loss}, {"max_tries", 7}});
      }
    }
    expect_epoch(name, {{"factors", 16}, {"negatives", "popular"}, {"workers", 1}});
    for (const int f : {8, 64, 250}) {
      expect_epoch(name, {{"factors", f}, {"negatives_per_pair", 9}});
      expect_epoch(name, {{"factors", f},
                          {"loss", "ccl"},
                          {"negatives_per_pair", 9},
                          {"margin", 0.1},
                          {"negative_weight", 3}});
    }
    expect_epoch(name, {{"factors", 16}, {"negatives_per_pair", 9}, {"negatives", "popular"}});
  }
}

TEST(BprOnDevice, LearnsAsTheHost) {
  const Ratings train = tastes(400, 120);
  const auto expect_near = [&](Json of_loss, double least) {
    of_loss["factors"] = 8;
    mf::test::Trainer host("bpr_cpu", of_loss, train,
                           [](const Ratings& of, const Params&) { return start(of, 8, 0.1); });
    host.run(20, 0.05);
    const double of_host = share_in_order(host.model());
    EXPECT_GT(of_host, least);
    const auto learns = [&](const std::string& name, const Json& changes) {
      TestRunner runner(name, params_of(name, changes), train, start(train, 8, 0.1));
      runner.run(1, 20, 0.05);
      EXPECT_NEAR(share_in_order(runner.model()), of_host, 0.02) << name << changes;
    };
    learns("bpr", of_loss);
    for (const std::string storage : {"fp32", "fp16", "bf16"}) {
      if (storage == "bf16" && of_loss.contains("loss")) continue;  // ccl, which refuses it
      Json tiled = of_loss;
      tiled["storage"] = storage;
      learns("bpr_tiled", tiled);
    }
  };
  expect_near(Json::object(), 0.95);
  expect_near({{"negatives_per_pair", 4}}, 0.95);
  expect_near({{"loss", "ccl"}, {"negatives_per_pair", 8}, {"margin", 0.4}, {"negative_weight", 4}},
              0.85);
}

TEST(BprOnDevice, WhoHasAllItemsTeachesNothing) {
  const Ratings train = mf::test::ratings_of(2, 2, {{0, 0, 1}, {0, 1, 1}});
  for (const char* name : {"bpr", "bpr_tiled"}) {
    for (const char* loss : {"bpr", "warp", "logistic", "ccl"}) {
      const Params params = params_of(name, {{"factors", 3}, {"loss", loss}});
      TestRunner runner(name, params, train, start(train, 3, 0.1));
      const Model before = runner.model();
      EXPECT_EQ(runner.run(1, 3, 0.1), 3 * train.nnz());
      EXPECT_EQ(runner.model().p, before.p);
      EXPECT_EQ(runner.model().q, before.q);
    }
  }
}

}  // namespace
}  // namespace mf::bpr::test
