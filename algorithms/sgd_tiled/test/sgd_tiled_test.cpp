// Chunks, bundles and orders, on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/sgd_tiled/ring.hpp"
#include "algorithms/sgd_tiled/rule.hpp"
#include "algorithms/sgd_tiled/settings.hpp"
#include "algorithms/sgd_tiled/test/host_tiles.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "testing/triples.hpp"

namespace mf::sgd_tiled {
namespace {

using mf::test::offsets_of;

std::vector<std::int64_t> long_tailed(std::size_t users) {
  std::vector<std::int64_t> counts(users);
  Rng rng(5);
  for (auto& count : counts) {
    count = static_cast<std::int64_t>(std::exp(7 * rng.uniform() * rng.uniform())) - 1;
  }
  counts[users / 2] = 5000;
  return counts;
}

TEST(Tiles, HoldEveryRatingOnce) {
  for (const auto& counts :
       {std::vector<std::int64_t>{}, {0, 0}, {1}, {0, 33, 0, 1, 32}, long_tailed(1000)}) {
    const auto offsets = offsets_of(counts);
    for (const int longest : {1, 7, 32, 100}) {
      for (const int size : {1, 2, 8}) {
        const std::vector<Chunk> chunks = host_tiles(offsets, longest, size, 1);
        std::vector<int> seen(offsets.back());
        for (const Chunk& chunk : chunks) {
          EXPECT_LE(chunk.count, longest);
          for (std::int64_t i = chunk.begin; i < chunk.begin + chunk.count; ++i) {
            ++seen[i];
            EXPECT_GE(i, offsets[chunk.user]);
            EXPECT_LT(i, offsets[chunk.user + 1]);
          }
        }
        EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), std::ssize(seen));
        EXPECT_EQ(std::ssize(chunks) % size, 0);
      }
    }
  }
}

TEST(Tiles, AreEqualWithinAUserAndWithinABundle) {
  const auto offsets = offsets_of(long_tailed(3000));
  const std::vector<Chunk> chunks = host_tiles(offsets, 32, 8, 1);
  std::map<std::int32_t, std::pair<int, int>> range;
  int uneven = 0;
  for (std::int64_t b = 0; b < std::ssize(chunks) / 8; ++b) {
    int low = 1 << 30;
    int high = 0;
    for (std::int64_t k = b * 8; k < b * 8 + 8; ++k) {
      const Chunk& chunk = chunks[k];
      low = std::min(low, chunk.count);
      high = std::max(high, chunk.count);
      if (chunk.count == 0) continue;
      auto& [least, most] = range.try_emplace(chunk.user, chunk.count, chunk.count).first->second;
      least = std::min(least, chunk.count);
      most = std::max(most, chunk.count);
    }
    uneven += high > low;
  }
  for (const auto& [user, counts] : range) EXPECT_LE(counts.second - counts.first, 1) << user;
  EXPECT_LE(uneven, 32) << "at most one bundle at each step from a length to the next";
}

TEST(Order, IsABijectionThatChangesWithTheEpoch) {
  for (const std::int64_t count : {1, 2, 3, 64, 1000, 99991}) {
    std::set<std::pair<std::int64_t, std::int64_t>> orders;
    for (std::int64_t epoch = 1; epoch <= 10; ++epoch) {
      const Order order = epoch_order(count, 3, epoch);
      orders.insert({order.multiplier, order.shift});
      std::vector<bool> seen(count);
      for (std::int64_t i = 0; i < count; ++i) {
        seen[(order.multiplier * i + order.shift) % count] = true;
      }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), true), count);
    }
    if (count > 100) {
      EXPECT_GT(orders.size(), 8u);
    }
  }
}

TEST(Order, OfARowIsABijection) {
  for (const std::int64_t count : {1, 2, 3, 4, 6, 30, 97, 1024, 17653}) {
    for (std::int64_t user = 0; user < 20; ++user) {
      const Order order = row_order(count, 9, user);
      std::vector<bool> seen(count);
      for (std::int64_t i = 0; i < count; ++i) {
        seen[(order.multiplier * i + order.shift) % count] = true;
      }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), true), count) << count << " " << user;
    }
  }
}

TEST(Thinning, EveryRatingWritesInOneEpochOfItsPeriod) {
  for (std::int32_t exponent = 0; exponent <= kMaxExponent; ++exponent) {
    const std::int32_t marked = marked_item(123456, exponent);
    EXPECT_EQ(item_of(marked), 123456);
    for (const std::int64_t place : {0LL, 7LL, 1LL << 33}) {
      int writes = 0;
      for (std::uint32_t epoch = 1; epoch <= 1U << exponent; ++epoch) {
        writes += writes_item(marked, place, epoch);
      }
      EXPECT_EQ(writes, 1);
    }
  }
}

TEST(Thinning, ExponentsFollowTheRatings) {
  const std::vector<std::int64_t> counts = {10, 11, 20, 41, 100000, 0};
  const auto exponents = thin_items(counts, 10).exponents;
  EXPECT_EQ(std::vector<int>(exponents.begin(), exponents.end()),
            (std::vector<int>{0, 1, 1, 2, kMaxExponent, 0}))
      << "halved until at most the share, in whole ratings";
  const Thinning off = thin_items(counts, 0);
  EXPECT_EQ(std::count(off.exponents.begin(), off.exponents.end(), 0), 6);
  EXPECT_EQ(off.writes_made, 1);
  EXPECT_EQ(thin_items(std::vector<std::int64_t>{0, 0}, 10).writes_made, 1);
}

TEST(Thinning, TheShareOfWritesIsThatOfTheRuleOverAllEpochs) {
  std::vector<std::int32_t> items;
  std::vector<std::int64_t> counts(40);
  Rng rng(11);
  for (int i = 0; i < 5000; ++i) {
    const auto skewed = rng.below(1 + rng.below(40));
    items.push_back(static_cast<std::int32_t>(skewed));
    ++counts[skewed];
  }
  const Thinning thinning = thin_items(counts, 20);
  // After 2^kMaxExponent epochs each place has been at each turn equally often.
  constexpr std::uint32_t kEpochs = 1U << kMaxExponent;
  std::int64_t writes = 0;
  for (std::uint32_t epoch = 1; epoch <= kEpochs; ++epoch) {
    for (std::int64_t place = 0; place < std::ssize(items); ++place) {
      const std::int32_t item = items[place];
      writes += writes_item(marked_item(item, thinning.exponents[item]), place, epoch) ? 1 : 0;
    }
  }
  const double share = static_cast<double>(writes) / (5000.0 * kEpochs);
  EXPECT_NEAR(thinning.writes_made, share, 1e-12);
  EXPECT_LT(share, 0.5);
}

TEST(Settings, RowsAreWholeWords) {
  const auto settings = [](const Json& changes) {
    return read_settings(default_params(find_algorithm("sgd_tiled").params, changes));
  };
  const auto stride = [](const Settings& s) { return storage_stride(s.storage, s.factors); };
  EXPECT_EQ(stride(settings({{"factors", 100}, {"storage", "fp16"}})), 104);
  EXPECT_EQ(stride(settings({{"factors", 100}, {"storage", "fp32"}})), 100);
  EXPECT_EQ(stride(settings({{"factors", 1}, {"storage", "bf16"}})), 8);
}

// In a round each block has one rank, in an epoch each rank has had every block, and a block goes
// to the next rank always, from epoch to epoch too.
TEST(Ring, EveryRankHasEveryBlockOnceAnEpoch) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    std::vector<std::vector<int>> visits(ranks, std::vector<int>(ranks, 0));
    for (int round = 0; round < ranks; ++round) {
      std::vector<int> holders(ranks, 0);
      for (int rank = 0; rank < ranks; ++rank) {
        const int block = block_at(rank, round, ranks);
        ASSERT_GE(block, 0);
        ASSERT_LT(block, ranks);
        ++holders[block];
        ++visits[rank][block];
        EXPECT_EQ(block_at((rank + 1) % ranks, round + 1, ranks), block);
      }
      for (const int one : holders) EXPECT_EQ(one, 1);
    }
    for (const auto& of_rank : visits) {
      for (const int times : of_rank) EXPECT_EQ(times, 1);
    }
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(block_at(rank, ranks, ranks), rank);
      EXPECT_EQ(block_at(rank, 0, ranks), rank);
    }
  }
}

// f = 128 in fp16.
RingShape ring_shape(int ranks, std::int64_t items, std::int64_t nnz, std::int64_t workers) {
  return {ranks, items, nnz, 256, workers, 0};
}

constexpr ProblemShape kNetflix = {480'189, 17'770, 80'400'000};
constexpr ProblemShape kYahoo = {1'000'990, 624'961, 243'000'000};
constexpr ProblemShape kHugewiki = {50'082'603, 39'780, 2'800'000'000};

RingShape ring_shape(int ranks, const ProblemShape& shape, Writes writes = Writes::add) {
  return ring_shape(ranks, shape.n_items, shape.nnz, one_device_workers(shape, writes));
}

// As many updates of a user are under way as on a single device; of an item only if they are
// stored, so that some are lost.
TEST(Ring, AutomaticWorkersAreThoseOfOneDeviceForEachRowInHand) {
  EXPECT_EQ(one_device_workers(kNetflix, Writes::add), 480'189 / 32);
  EXPECT_EQ(one_device_workers(kNetflix, Writes::store),
            lock_free_workers({17'770, 480'189, 80'400'000}));
  EXPECT_EQ(one_device_workers({100, 5000, 9000}, Writes::add),
            one_device_workers({100, 5000, 9000}, Writes::store));
  const RingShape shape = ring_shape(4, kNetflix);
  EXPECT_EQ(ring_workers(shape, 1), 480'189 / 32 / 4);
  EXPECT_EQ(ring_workers(shape, 2), 480'189 / 32 / 8);
  EXPECT_EQ(ring_workers(ring_shape(8, 5, 10, 3), 1), 1);
  RingShape given = shape;
  given.of_spec = 2700;
  for (const int halves : {1, 2}) EXPECT_EQ(ring_workers(given, halves), 2700);
}

// Groups that write an item of so many ratings at once, on average: each draws one of `in_hand`.
double writers_of(double ratings, std::int64_t all_ratings, std::int64_t above, double groups,
                  double in_hand) {
  const std::vector<std::int64_t> counts = {all_ratings};
  return groups * ratings / in_hand * thin_items(counts, above).writes_made;
}

TEST(Ring, NoMoreGroupsWriteAnItemAtOnceThanOnOneDevice) {
  constexpr std::int64_t kResident = 8448;  // groups that a device holds
  constexpr std::int64_t kAbove = 20000;
  for (const ProblemShape& shape : {kNetflix, kYahoo, kHugewiki}) {
    const std::int64_t one = std::min(kResident, lock_free_workers(shape));
    const auto nnz = static_cast<double>(shape.nnz);
    const double bound = std::max(1.0, static_cast<double>(one * kAbove) / nnz);
    for (const int ranks : {2, 3, 4, 8}) {
      for (const int halves : {1, 2}) {
        const std::int64_t own =
            std::min(kResident, ring_workers(ring_shape(ranks, shape), halves));
        const std::int64_t above =
            ring_thin_above(kAbove, {one, own, std::int64_t{ranks} * halves}, shape.nnz, 0);
        EXPECT_LE(above, kAbove);
        for (const std::int64_t ratings : {500, 9000, 20000, 50000, 200000}) {
          // A rank has its users' ratings of the item, and in hand its items' ratings.
          const double writers =
              writers_of(static_cast<double>(ratings) / ranks, ratings, above,
                         static_cast<double>(own), nnz / (1.0 * ranks * ranks * halves));
          EXPECT_LE(writers, bound * (1 + 1e-9)) << ranks << " " << halves << " " << ratings;
        }
      }
    }
  }
}

TEST(Ring, ItemsAreThinnedByWhatIsHeldAtOnce) {
  const auto above = [](std::int64_t of_one, RingGroups groups, std::int64_t nnz) {
    return ring_thin_above(of_one, groups, nnz, 0);
  };
  EXPECT_EQ(above(20000, {5360, 3751, 4}, kNetflix.nnz), 20000 * 5360 / 15004);
  EXPECT_EQ(above(20000, {8448, 8448, 4}, kHugewiki.nnz), 20000) << "one writer at most";
  EXPECT_EQ(above(0, {10, 10, 4}, 100), 0) << "never";
  EXPECT_EQ(above(5, {10, 10, 4}, 0), 5);
  EXPECT_EQ(above(5, {10, 1000000, 4}, 5), 1);
}

TEST(Ring, TwiceAsManyGroupsWriteAnItemWhereStepsAreShort) {
  const auto above = [](double step) {
    return static_cast<double>(ring_thin_above(20000, {5360, 3751, 4}, kNetflix.nnz, step));
  };
  const double as_one = above(0);  // 1.3 writers
  EXPECT_EQ(above(.1 * 3.8), as_one);
  EXPECT_NEAR(above(.0075 * 3.8), 2 * as_one, 1);
  // In between so many that their steps together are as long.
  EXPECT_NEAR(above(.03 * 3.8), as_one * 1.32, .01 * as_one);
  EXPECT_NEAR(above(.035 * 3.8) / above(.03 * 3.8), .03 / .035, 1e-3);
  EXPECT_EQ(above(.04 * 3.8), as_one) << "the steps of one device are as long";
  EXPECT_EQ(ring_thin_above(20000, {8448, 2000, 4}, kNetflix.nnz, 1e-6), 20000) << "the spec's";
}

TEST(Ring, StepsAreAsLongAsTheRateAndTheProductsLearnt) {
  EXPECT_DOUBLE_EQ(ring_step(ModelKind::plain, .01, {3, 4}), .05);
  EXPECT_DOUBLE_EQ(ring_step(ModelKind::biased, .01, {3, 4}), .04);
  EXPECT_EQ(ring_step(ModelKind::plain, 0, {3, 4}), 0);
}

TEST(Ring, HalvesWhereTheExchangeWeighs) {
  // The exchange of a block is nothing beside its pass.
  for (const int ranks : {2, 3, 4}) {
    for (const Writes writes : {Writes::add, Writes::store}) {
      EXPECT_EQ(ring_halves(ring_shape(ranks, kNetflix, writes)), 1);
      EXPECT_EQ(ring_halves(ring_shape(ranks, kHugewiki, writes)), 1);
    }
  }
  // 40 MB a round of 2 ms, and workers enough for halves, or not.
  EXPECT_EQ(ring_halves(ring_shape(4, kYahoo)), 2);
  EXPECT_EQ(ring_halves(ring_shape(4, kYahoo, Writes::store)), 1);
  // Millions of items: the exchange is as long as the pass.
  EXPECT_EQ(ring_halves(ring_shape(4, 10'000'000, kYahoo.nnz, 100'000)), 2);
  EXPECT_EQ(ring_halves(ring_shape(3, 0, 0, 1)), 1);
}

TEST(Ring, LapsWhereARoundIsLongBesideItsWait) {
  EXPECT_EQ(ring_laps(ring_shape(4, kHugewiki), 1), kMostLaps);
  EXPECT_EQ(ring_laps(ring_shape(4, kNetflix), 1), 1);  // rounds of 1 ms
  EXPECT_EQ(ring_laps(ring_shape(4, kYahoo), 2), 1);
  EXPECT_EQ(ring_laps(ring_shape(2, kYahoo), 2), 1);
  EXPECT_EQ(ring_laps(ring_shape(3, 0, 0, 1), 1), 1);
}

TEST(Ring, LapsShareTheBundles) {
  for (const std::int64_t count : {0, 1, 3, 4, 1001}) {
    for (const int laps : {1, 2, 4}) {
      std::int64_t next = 0;
      for (int lap = 0; lap < laps; ++lap) {
        const BundleRange range = range_of_lap(count, lap, laps);
        EXPECT_EQ(range.begin, next);
        EXPECT_LE(std::abs(range.size() - count / laps), 1);
        next = range.end;
      }
      EXPECT_EQ(next, count);
    }
  }
}

}  // namespace
}  // namespace mf::sgd_tiled
