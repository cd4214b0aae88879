// sgd_tiled on the device against a serial pass on the host.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/sgd_tiled/device_tiles.hpp"
#include "algorithms/sgd_tiled/kernels.hpp"
#include "algorithms/sgd_tiled/rule.hpp"
#include "algorithms/sgd_tiled/test/host_tiles.hpp"
#include "algorithms/sgd_tiled/test/round_kernel.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "datasets/split/split.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "testing/cuda/back.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/models.hpp"
#include "testing/triples.hpp"

namespace mf::sgd_tiled {
namespace {

using cuda::expect_near;
using cuda::TestRunner;

Params params_of(const Json& changes) {
  return default_params(find_algorithm("sgd_tiled").params, changes);
}

// Items that only one user has; `most` ratings a user, some users without any.
Ratings disjoint_matrix(std::int32_t m, std::int32_t most) {
  std::vector<Rating> list;
  Rng rng(3);
  std::int32_t item = 0;
  for (std::int32_t u = 0; u < m; ++u) {
    const auto count = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(most) + 1));
    for (std::int32_t k = 0; k < count; ++k) {
      list.push_back({u, item++, static_cast<float>(1 + rng.below(5))});
    }
  }
  return test::ratings_of(m, item + 1, list);
}

TEST(DeviceTiles, AreTheHosts) {
  ThreadTeam team(2);
  cuda::Stream stream;
  for (const std::int32_t users : {1, 40, 3000}) {
    const Ratings train = disjoint_matrix(users, 300);
    const cuda::DeviceRatings ratings(train, team, stream.get());
    for (const int longest : {1, 32, 1000}) {
      for (const int size : {1, 4}) {
        const auto host = host_tiles(train.user_offsets(), longest, size, 9);
        const DeviceTiles tiles = make_device_tiles(ratings.rows(), longest, size, 9, stream.get());
        ASSERT_EQ(tiles.bundles * size, std::ssize(host));
        const auto chunks = back(tiles.chunks.data(), std::ssize(host), stream);
        EXPECT_TRUE(chunks == host);
      }
    }
  }
}

TEST(DeviceTiles, RatingsAreShuffledWithinTheirUserAndMarked) {
  ThreadTeam team(2);
  cuda::Stream stream;
  const Ratings train = disjoint_matrix(200, 100);
  const cuda::DeviceRatings ratings(train, team, stream.get());
  std::vector<std::uint8_t> exponents(train.n_items());
  for (std::size_t i = 0; i < exponents.size(); ++i)
    exponents[i] = static_cast<std::uint8_t>(i % 8);
  const auto device = cuda::upload(View<const std::uint8_t>(exponents), stream.get());
  cuda::DeviceBuffer<RowRating> shuffled(train.nnz());
  launch_shuffle(ratings.rows(), device.data(), shuffled.data(), 5, stream.get());
  const auto seen = back(shuffled.data(), train.nnz(), stream);
  const auto offsets = train.user_offsets();
  for (std::int32_t user = 0; user < train.n_users(); ++user) {
    const std::int64_t begin = offsets[user];
    const std::int64_t count = offsets[user + 1] - begin;
    const Order order = row_order(count, 5, user);
    for (std::int64_t i = 0; i < count; ++i) {
      const Rating from = train[begin + (order.multiplier * i + order.shift) % count];
      ASSERT_EQ(seen[begin + i].other, marked_item(from.item, exponents[from.item])) << user;
      ASSERT_EQ(seen[begin + i].value, from.value) << user;
    }
  }
}

// A pass in the order of the device, for one chunk a user and no shared item.
void serial_pass(const Ratings& train, const Settings& s, double rate, std::uint64_t seed,
                 Model& model) {
  const std::int64_t f = model.factors;
  const bool biased = model.biased();
  const auto step = step_at(rate, s.reg, model.mean);
  for (std::int32_t u = 0; u < train.n_users(); ++u) {
    const std::int64_t begin = train.user_offsets()[u];
    const std::int64_t count = train.user_offsets()[u + 1] - begin;
    const Order order = row_order(count, seed, u);
    for (std::int64_t k = 0; k < count; ++k) {
      const Rating r = train[begin + (order.multiplier * k + order.shift) % count];
      sgd::update(step, r.value, &model.p[u * f], &model.q[r.item * f], model.factors,
                  biased ? &model.user_bias[u] : nullptr,
                  biased ? &model.item_bias[r.item] : nullptr);
    }
  }
}

TEST(SgdTiled, EqualsASerialPassWhereNoItemIsShared) {
  const Ratings many = disjoint_matrix(300, 32);
  const Ratings few = disjoint_matrix(40, 32);
  for (const std::int32_t factors :
       {1, 7, 32, 33, 64, 100, 128, 200, 256, 300, 512, 513, 1000, 1024}) {
    const Ratings& train = factors <= 256 ? many : few;
    for (const char* model : {"plain", "biased"}) {
      Json changes = {{"factors", factors},   {"model", model},      {"rounding", "nearest"},
                      {"thin_above", 0},      {"reg_p", 0.1},        {"reg_q", 0.2},
                      {"reg_user_bias", 0.3}, {"reg_item_bias", 0.4}};
      InitSpec init;
      init.scale = 0.3;
      const Model start = initial_model(train.n_users(), train.n_items(), factors,
                                        kModelKinds.parse(model, "model"), 3.0, init, 1);
      Model expected = start;
      for (int pass = 0; pass < 2; ++pass) {
        serial_pass(train, read_settings(params_of(changes)), 0.01, 1, expected);
      }
      for (const char* storage : {"fp32", "fp16", "bf16"}) {
        changes["storage"] = storage;
        TestRunner device("sgd_tiled", params_of(changes), train, start);
        device.run(1, 2, 0.01);
        const Model after = device.model();
        const std::string what = std::string(model) + " " + storage + " " + std::to_string(factors);
        const double tolerance = std::string(storage) == "fp32"   ? 2e-5
                                 : std::string(storage) == "fp16" ? 4e-3
                                                                  : 3e-2;
        expect_near(after.p, expected.p, tolerance, what + " p");
        expect_near(after.q, expected.q, tolerance, what + " q");
        expect_near(after.user_bias, expected.user_bias, tolerance, what + " b");
        expect_near(after.item_bias, expected.item_bias, tolerance, what + " c");
      }
    }
  }
}

// A diverged model must look like one: rounding turns no NaN into a number. (Not the user of item
// 0, whose row stands in for missing ratings of a chunk: it would reach others.)
TEST(SgdTiled, RowsThatAreNoNumbersStaySo) {
  const Ratings train = disjoint_matrix(300, 32);
  for (const char* storage : {"fp32", "fp16", "bf16"}) {
    for (const char* rounding : {"nearest", "stochastic"}) {
      for (const char* model : {"plain", "biased"}) {
        const Params params = params_of({{"factors", 40},
                                         {"model", model},
                                         {"storage", storage},
                                         {"rounding", rounding},
                                         {"thin_above", 0}});
        Model start = initial_model(train.n_users(), train.n_items(), 40,
                                    kModelKinds.parse(model, "model"), 3.0, {}, 1);
        const std::int32_t user = train[train.nnz() - 1].user;
        start.p[user * 40 + 3] = std::numeric_limits<float>::quiet_NaN();
        TestRunner device("sgd_tiled", params, train, start);
        device.run(1, 3, 0.01);
        const Model after = device.model();
        for (std::int64_t i = 0; i < train.nnz(); ++i) {
          for (std::int64_t k = 0; k < 40; ++k) {
            const bool none = train[i].user == user;
            EXPECT_EQ(std::isnan(after.p[train[i].user * 40 + k]), none) << storage << rounding;
            EXPECT_EQ(std::isnan(after.q[train[i].item * 40 + k]), none) << storage << rounding;
          }
        }
      }
    }
  }
}

// One user with far more ratings than a chunk: its row of P is shared, its items are not. Each item
// is updated exactly once, from an error that depends on p; with a rate so small that p stays the
// same, the items say whether every rating was visited once.
TEST(SgdTiled, VisitsEveryRatingOfAGiantOnce) {
  Ratings::Arrays arrays;
  const std::int32_t n = 10007;
  for (std::int32_t i = 0; i < n; ++i) {
    arrays.users.push_back(0);
    arrays.items.push_back(i);
    arrays.values.push_back(4);
    arrays.item_ids.push_back(i);
  }
  arrays.user_offsets = {0, n};
  arrays.user_ids = {0};
  const Ratings train{std::move(arrays)};
  const Params params =
      params_of({{"factors", 20}, {"storage", "fp32"}, {"reg", 0}, {"thin_above", 0}});
  const Model initial = initial_model(1, n, 20, ModelKind::plain, 3.0, {}, 1);
  constexpr double kRate = 1e-6;
  TestRunner device("sgd_tiled", params, train, initial);
  device.run(1, 1, kRate);
  const Model after = device.model();
  for (std::int64_t i = 0; i < n; ++i) {
    double dot = 0;
    double norm = 0;
    for (std::int64_t k = 0; k < 20; ++k) {
      dot += static_cast<double>(initial.p[k]) * initial.q[i * 20 + k];
      norm += static_cast<double>(initial.p[k]) * initial.p[k];
    }
    double moved = 0;  // along p, in units of one update
    for (std::int64_t k = 0; k < 20; ++k) {
      moved += (static_cast<double>(after.q[i * 20 + k]) - initial.q[i * 20 + k]) * initial.p[k];
    }
    EXPECT_NEAR(moved / (kRate * (4 - dot) * norm), 1, 0.35) << i;
  }
}

// Thousands of users with one item, all at once. The rate is so small that no user's error changes:
// the item and its bias move by the sum of all updates.
TEST(SgdTiled, NoUpdateOfASharedItemIsLost) {
  constexpr std::int32_t kUsers = 4000;
  constexpr std::int64_t kFactors = 100;
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < kUsers; ++u) list.push_back({u, 0, static_cast<float>(1 + u % 5)});
  const Ratings train = test::ratings_of(kUsers, 1, list);
  InitSpec init;
  init.scale = 0.3;
  const Model initial = initial_model(kUsers, 1, kFactors, ModelKind::biased, 2.5, init, 1);
  constexpr double kRate = 3e-6;
  std::vector<double> wanted(kFactors, 0.0);
  double wanted_bias = 0;
  for (std::int64_t u = 0; u < kUsers; ++u) {
    double error = train[u].value - initial.mean - initial.user_bias[u] - initial.item_bias[0];
    for (std::int64_t k = 0; k < kFactors; ++k) {
      error -= static_cast<double>(initial.p[u * kFactors + k]) * initial.q[k];
    }
    wanted_bias += kRate * error;
    for (std::int64_t k = 0; k < kFactors; ++k) {
      wanted[k] += kRate * error * initial.p[u * kFactors + k];
    }
  }
  for (const char* storage : {"fp32", "fp16", "bf16"}) {
    TestRunner device("sgd_tiled",
                      params_of({{"factors", kFactors},
                                 {"model", "biased"},
                                 {"storage", storage},
                                 {"reg", 0},
                                 {"workers", 4096},
                                 {"thin_above", 0}}),
                      train, initial);
    device.run(1, 1, kRate);
    const Model after = device.model();
    EXPECT_NEAR((after.item_bias[0] - initial.item_bias[0]) / wanted_bias, 1, 0.02) << storage;
    if (storage != std::string("fp32")) continue;  // rounding is larger than one's addition
    double along = 0;
    double norm = 0;
    for (std::int64_t k = 0; k < kFactors; ++k) {
      along += (static_cast<double>(after.q[k]) - initial.q[k]) * wanted[k];
      norm += wanted[k] * wanted[k];
    }
    EXPECT_NEAR(along / norm, 1, 0.05) << storage;
  }
}

// Rounding adds to the bits of a number, which must not turn NaN or infinity into one.
TEST(Rounder, LeavesWhatIsNoNumber) {
  const cuda::Stream stream;
  const auto of_bits = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  const std::vector<float> none = {of_bits(0x7fffffffU), of_bits(0xffffffffU), of_bits(0x7fc00000U),
                                   std::numeric_limits<float>::infinity(),
                                   -std::numeric_limits<float>::infinity()};
  auto numbers = cuda::upload(View<const float>(none), stream.get());
  cuda::DeviceBuffer<std::uint32_t> out(std::ssize(none));
  for (const bool bf16 : {false, true}) {
    for (const bool stochastic : {false, true}) {
      launch_round(numbers.data(), out.data(), static_cast<int>(none.size()), stochastic, bf16,
                   stream.get());
      std::vector<std::uint32_t> words(out.size());
      cuda::download(View<std::uint32_t>(words), out.data(), stream.get());
      for (std::size_t i = 0; i < words.size(); ++i) {
        for (const std::uint32_t bits : {words[i] & 0xffffU, words[i] >> 16}) {
          const auto raw = static_cast<unsigned short>(bits);
          const float value = bf16 ? __bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{raw}))
                                   : __half2float(__half(__half_raw{raw}));
          EXPECT_FALSE(std::isfinite(value)) << i << " " << bf16 << stochastic;
          if (std::isnan(none[i])) {
            EXPECT_TRUE(std::isnan(value)) << i << " " << bf16 << stochastic;
          }
        }
      }
    }
  }
}

// The mean of many stochastic roundings is the number itself; nearest gives the nearest.
TEST(Rounder, KeepsTheMean) {
  const cuda::Stream stream;
  for (const bool bf16 : {false, true}) {
    for (const float x : {0.1F, -0.73F, 1.0F / 3.0F, 2.5001F}) {
      const std::vector<float> same(8000, x);
      auto numbers = cuda::upload(View<const float>(same), stream.get());
      cuda::DeviceBuffer<std::uint32_t> out(std::ssize(same));
      for (const bool stochastic : {false, true}) {
        launch_round(numbers.data(), out.data(), 8000, stochastic, bf16, stream.get());
        std::vector<std::uint32_t> words(out.size());
        cuda::download(View<std::uint32_t>(words), out.data(), stream.get());
        double sum = 0;
        double worst = 0;
        for (const std::uint32_t two : words) {
          for (const std::uint32_t bits : {two & 0xffffU, two >> 16}) {
            const auto raw = static_cast<unsigned short>(bits);
            const float value = bf16 ? __bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{raw}))
                                     : __half2float(__half(__half_raw{raw}));
            sum += value;
            worst = std::max(worst, std::abs(static_cast<double>(value) - x));
          }
        }
        const double unit = std::abs(x) * (bf16 ? 1.0 / 128 : 1.0 / 1024);
        EXPECT_LE(worst, (stochastic ? 1.0 : 0.5) * unit * 1.001) << x;
        if (stochastic) {
          EXPECT_NEAR(sum / (2 * 8000), x, 0.02 * unit) << x << " " << bf16;
        }
      }
    }
  }
}

// On shared items the result depends on timing: the test RMSE after 10 passes against the host's.
TEST(SgdTiled, RacesStayInABandOfTheSerialPass) {
  const Dataset data = make_look_alike("ml-100k", 1.0, 1, 2);
  const Split split = make_split(data, {}, 2);
  for (const char* storage : {"fp32", "fp16", "bf16"}) {
    double device_mean = 0;
    double host_mean = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Params params = params_of({{"factors", 16}, {"model", "biased"}, {"storage", storage}});
      InitSpec init;
      init.seed = seed;
      Model model = initial_model(split.train.n_users(), split.train.n_items(), 16,
                                  ModelKind::biased, mean_rating(split.train), init, 1);
      TestRunner device("sgd_tiled", params, split.train, model, seed);
      device.run(1, 10, 0.01);
      device_mean += test::rmse(device.model(), split.test) / 5;
      for (int pass = 0; pass < 10; ++pass) {
        serial_pass(split.train, read_settings(params), 0.01, seed, model);
      }
      host_mean += test::rmse(model, split.test) / 5;
    }
    EXPECT_NEAR(device_mean, host_mean, 0.01) << storage;
  }
}

}  // namespace
}  // namespace mf::sgd_tiled
