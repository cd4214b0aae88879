// batch_hogwild and wavefront on the device against serial passes on the host.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/cumf_sgd/device_grid.hpp"
#include "algorithms/cumf_sgd/kernels.hpp"
#include "algorithms/cumf_sgd/order.hpp"
#include "algorithms/cumf_sgd/test/grid_reference.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "datasets/split/split.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "testing/cuda/back.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/models.hpp"
#include "testing/triples.hpp"

namespace mf::cumf_sgd {
namespace {

using cuda::expect_near;
using cuda::TestRunner;
using test::make_grid;
using test::WavefrontGrid;

Params params_of(const std::string& name, const Json& changes) {
  return default_params(find_algorithm(name).params, changes);
}

void update(Model& model, const Settings& s, double rate, const Rating& r) {
  const std::int64_t f = model.factors;
  sgd::update(step_at(rate, s.reg, 0), r.value, model.p.data() + r.user * f,
              model.q.data() + r.item * f, model.factors);
}

double tolerance_of(const std::string& storage) {
  if (storage == "fp32") return 5e-5;
  return storage == "fp16" ? 4e-3 : 3e-2;
}

// User u rates only item u: any order of a pass gives the same.
Ratings matching(std::int32_t m) {
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < m; ++u) list.push_back({u, u, static_cast<float>(1 + u % 5)});
  return mf::test::ratings_of(m, m, list);
}

Model initial_for(const Ratings& train, std::int32_t factors) {
  InitSpec init;
  init.scale = 0.3;
  return initial_model(train.n_users(), train.n_items(), factors, ModelKind::plain, 3.0, init, 1);
}

constexpr double kRate = 0.02;

// Two passes on the host.
Model after_passes(Model model, const Ratings& train, const Params& params) {
  for (int pass = 0; pass < 2; ++pass) {
    for (std::int64_t i = 0; i < train.nnz(); ++i) {
      update(model, read_settings(params), kRate, train[i]);
    }
  }
  return model;
}

TEST(BatchHogwild, VisitsEveryRatingOnceAPass) {
  for (const std::int32_t m : {1, 31, 1000, 5003}) {
    const Ratings train = matching(m);
    for (const std::int32_t factors :
         {1, 7, 32, 33, 64, 100, 128, 200, 256, 300, 512, 513, 1000, 1024}) {
      if (m != (factors <= 256 ? 1000 : 31) && factors != 100) continue;
      const Json common = {
          {"factors", factors}, {"sampling", "passes"}, {"reg_p", 0.1}, {"reg_q", 0.2}};
      const Model initial = initial_for(train, factors);
      const Model expected = after_passes(initial, train, params_of("batch_hogwild", common));
      for (const char* mapping : {"warp", "group"}) {
        for (const char* storage : {"fp32", "fp16", "bf16"}) {
          for (const int run : {1, 50, 256}) {
            Json changes = common;
            changes.update({{"storage", storage}, {"mapping", mapping}, {"run", run}});
            TestRunner device("batch_hogwild", params_of("batch_hogwild", changes), train, initial);
            EXPECT_EQ(device.run(1, 2, kRate), 2 * m);
            const Model after = device.model();
            const std::string what = std::string(mapping) + " " + storage + " f " +
                                     std::to_string(factors) + " m " + std::to_string(m);
            expect_near(after.p, expected.p, tolerance_of(storage), what + " p");
            expect_near(after.q, expected.q, tolerance_of(storage), what + " q");
          }
        }
      }
    }
  }
}

// A diverged model must look like one: rounding turns no NaN into a number.
TEST(CumfSgd, RowsThatAreNoNumbersStaySo) {
  const Ratings train = matching(500);
  for (const char* name : {"batch_hogwild", "wavefront"}) {
    for (const char* storage : {"fp32", "fp16", "bf16"}) {
      for (const char* rounding : {"nearest", "stochastic"}) {
        Json changes = {{"factors", 40}, {"storage", storage}, {"rounding", rounding}};
        if (std::string(name) == "batch_hogwild") changes["sampling"] = "passes";
        Model start = initial_for(train, 40);
        start.p[7 * 40 + 3] = std::numeric_limits<float>::quiet_NaN();
        TestRunner device(name, params_of(name, changes), train, start);
        device.run(1, 3, 0.01);
        const Model after = device.model();
        for (std::int64_t i = 0; i < 500 * 40; ++i) {
          EXPECT_EQ(std::isnan(after.p[i]), i / 40 == 7) << name << storage << rounding;
          EXPECT_EQ(std::isnan(after.q[i]), i / 40 == 7) << name << storage << rounding;
        }
      }
    }
  }
}

// The ratings of a grid of one band, in the order in which a worker walks them in an epoch.
std::vector<Rating> walk(const WavefrontGrid& grid, std::uint64_t seed, std::int64_t epoch) {
  const auto pass = static_cast<std::uint32_t>(mix64(seed + static_cast<std::uint64_t>(epoch)));
  const std::int64_t columns = std::ssize(grid.offsets) - 1;
  const auto order = Permutation::of(columns, walk_seed(seed, 0, pass));
  std::vector<Rating> ratings;
  for (std::int64_t turn = 0; turn < columns; ++turn) {
    const auto block = grid.offsets.begin() + order(turn);
    ratings.insert(ratings.end(), grid.ratings.begin() + block[0], grid.ratings.begin() + block[1]);
  }
  return ratings;
}

// Some users have many ratings and some none; so have the items.
Ratings skewed(std::int32_t users, std::int32_t items, std::int64_t nnz) {
  Rng rng(3);
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::int64_t i = 0; i < nnz; ++i) {
    pairs.insert({static_cast<std::int32_t>(rng.below(1 + rng.below(users))),
                  static_cast<std::int32_t>(rng.below(1 + rng.below(items)))});
  }
  std::vector<Rating> list;
  for (const auto& [user, item] : pairs) {
    list.push_back({user, item, static_cast<float>(rng.uniform())});
  }
  return mf::test::ratings_of(users, items, list);
}

TEST(WavefrontGrid, IsTheHosts) {
  ThreadTeam team(2);
  cuda::Stream stream;
  std::vector<Ratings> all;
  all.push_back(skewed(1, 1, 1));
  all.push_back(skewed(1, 3000, 2000));
  all.push_back(skewed(3000, 1, 2000));
  all.push_back(skewed(700, 300, 20'000));
  all.push_back(skewed(50, 70'000, 30'000));
  all.push_back(mf::test::ratings_of(5, 6, {}));
  for (const Ratings& train : all) {
    cuda::DeviceRatings ratings(train, team, stream.get());
    for (const auto& [bands, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                         {1, 7},
                                         {5, 1},
                                         {13, 26},
                                         {200, 400},
                                         {3000, 5000}}) {
      for (const std::uint64_t seed : {1, 2}) {
        const WavefrontGrid host = make_grid(train, bands, columns, seed);
        const DeviceGrid made = make_device_grid(ratings, bands, columns, seed, stream.get());
        EXPECT_TRUE(back(made.offsets, stream) == host.offsets) << bands << " x " << columns;
        const auto users = back(made.users, stream);
        const auto items = back(made.items, stream);
        const auto values = back(made.values, stream);
        for (std::size_t i = 0; i < host.ratings.size(); ++i) {
          ASSERT_EQ(users[i], host.ratings[i].user) << bands << " x " << columns;
          ASSERT_EQ(items[i], host.ratings[i].item) << bands << " x " << columns;
          ASSERT_EQ(values[i], host.ratings[i].value) << bands << " x " << columns;
        }
      }
    }
  }
}

// One worker: the pass is serial, in the order of the grid and of the worker's own permutation.
// Blocks of thousands of ratings, in which rows return while they are on their way; of a few; and
// of none.
TEST(Wavefront, WithOneWorkerIsASerialPass) {
  const Dataset data = make_look_alike("ml-100k", 0.02, 1, 2);
  const Ratings& train = data.ratings;
  for (const std::int32_t factors : {1, 7, 33, 64, 100, 128, 200, 300, 512}) {
    for (const char* storage : {"fp32", "fp16", "bf16"}) {
      for (const std::int64_t columns : {1, 7, 100, 3000}) {
        const Params params = params_of("wavefront", {{"factors", factors},
                                                      {"storage", storage},
                                                      {"workers", 1},
                                                      {"column_blocks", columns},
                                                      {"reg_p", 0.1},
                                                      {"reg_q", 0.2}});
        Model expected = initial_for(train, factors);
        TestRunner device("wavefront", params, train, expected);
        EXPECT_EQ(device.run(1, 1, 0.005), train.nnz());
        const std::int64_t most = train.n_items();
        const WavefrontGrid grid = make_grid(train, 1, std::min(columns, most), 1);
        for (const Rating& rating : walk(grid, 1, 1)) {
          update(expected, read_settings(params), 0.005, rating);
        }
        const Model after = device.model();
        const std::string what = std::string(storage) + " f " + std::to_string(factors) +
                                 " columns " + std::to_string(columns);
        const double slack = std::string(storage) == "fp32" ? 2 : 8;  // rows are rounded many times
        expect_near(after.p, expected.p, slack * tolerance_of(storage), what + " p");
        expect_near(after.q, expected.q, slack * tolerance_of(storage), what + " q");
      }
    }
  }
}

// No update is lost, however many workers meet at a few items: at a small rate every update moves
// its item by rate * error * p, so that the sum is known to first order.
TEST(Wavefront, LosesNoUpdate) {
  constexpr std::int32_t kUsers = 3000;
  constexpr std::int32_t kItems = 10;
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < kUsers; ++u) {
    for (std::int32_t i = 0; i < kItems; ++i) list.push_back({u, i, 4.0F});
  }
  const Ratings train = mf::test::ratings_of(kUsers, kItems, list);
  Model initial = initial_for(train, 16);
  for (float& x : initial.p) x = std::abs(x) + 0.1F;
  for (float& x : initial.q) x = std::abs(x) + 0.1F;
  constexpr double kSmallRate = 1e-6;
  for (const int workers : {2, 64, 500}) {
    for (const int columns : {1, 4, 10}) {
      TestRunner device("wavefront",
                        params_of("wavefront", {{"factors", 16},
                                                {"storage", "fp32"},
                                                {"reg", 0},
                                                {"workers", workers},
                                                {"column_blocks", columns}}),
                        train, initial);
      device.run(1, 1, kSmallRate);
      const Model after = device.model();
      for (std::int64_t i = 0; i < kItems; ++i) {
        double expected = 0;
        double moved = 0;
        for (std::int64_t k = 0; k < 16; ++k) {
          moved += static_cast<double>(after.q[i * 16 + k]) - initial.q[i * 16 + k];
        }
        for (std::int64_t u = 0; u < kUsers; ++u) {
          double dot = 0;
          double sum = 0;
          for (std::int64_t k = 0; k < 16; ++k) {
            dot += static_cast<double>(initial.p[u * 16 + k]) * initial.q[i * 16 + k];
            sum += initial.p[u * 16 + k];
          }
          expected += kSmallRate * (4 - dot) * sum;
        }
        EXPECT_NEAR(moved / expected, 1, 0.05) << workers << " workers, item " << i;
      }
    }
  }
}

TEST(Wavefront, RefusesMoreWorkersThanTheDeviceHolds) {
  const Ratings train = matching(10);
  try {
    TestRunner device("wavefront", params_of("wavefront", {{"workers", 65536}}), train,
                      initial_for(train, 128));
    FAIL() << "workers that wait for one that does not run would wait forever";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  }
}

// Shared items: the test RMSE after 15 passes over 5 seeds against serial passes.
TEST(CumfSgd, RacesStayInABandOfTheSerialPass) {
  const Dataset data = make_look_alike("ml-1m", 0.3, 1, 2);
  const Split split = make_split(data, {}, 2);
  InitSpec init;
  init.kind = InitKind::uniform;
  double host_mean = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    init.seed = seed;
    Model model = initial_model(split.train.n_users(), split.train.n_items(), 16, ModelKind::plain,
                                mean_rating(split.train), init, 1);
    const Settings settings = read_settings(params_of("wavefront", {{"reg", 0.05}}));
    for (std::uint64_t pass = 0; pass < 15; ++pass) {
      const auto order = Permutation::of(split.train.nnz(), seed * 100 + pass);
      for (std::int64_t i = 0; i < split.train.nnz(); ++i) {
        update(model, settings, 0.01, split.train[order(i)]);
      }
    }
    host_mean += mf::test::rmse(model, split.test) / 5;
  }
  for (const char* name : {"batch_hogwild", "wavefront"}) {
    for (const char* storage : {"fp32", "fp16"}) {
      double mean = 0;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        init.seed = seed;
        Json changes = {{"factors", 16}, {"storage", storage}, {"reg", 0.05}};
        if (std::string(name) == "batch_hogwild") changes["sampling"] = "passes";
        TestRunner device(name, params_of(name, changes), split.train,
                          initial_model(split.train.n_users(), split.train.n_items(), 16,
                                        ModelKind::plain, mean_rating(split.train), init, 1),
                          seed);
        device.run(1, 15, 0.01);
        mean += mf::test::rmse(device.model(), split.test) / 5;
      }
      EXPECT_NEAR(mean, host_mean, 0.015) << name << " " << storage;
    }
  }
}

}  // namespace
}  // namespace mf::cumf_sgd
