#include <gtest/gtest.h>

#include <atomic>

#include "algorithms/sgd_cpu/block_scheduler.hpp"
#include "base/threads.hpp"

namespace mf::sgd_cpu {
namespace {

std::vector<GridCell> random_cells(std::int32_t users, std::int32_t items, double density,
                                   Rng& rng) {
  std::vector<GridCell> cells;
  for (std::int32_t u = 0; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) {
      if (rng.uniform() < density) cells.push_back({u, i});
    }
  }
  return cells;
}

struct Shape {
  std::int32_t users, items;
  int workers;
  double density;
};

const Shape kShapes[] = {{1, 1, 1, 1},     {1, 1, 5, 1},    {1, 9, 4, 1},    {9, 1, 4, 1},
                         {5, 5, 4, 1},     {17, 17, 16, 1}, {3, 40, 8, 0.5}, {40, 3, 8, 0.5},
                         {12, 12, 4, 0.1}, {4, 4, 2, 0}};

class Scheduler : public testing::TestWithParam<BlockOrder> {};

// One thread plays many workers that finish in random order, so every interleaving can be checked.
TEST_P(Scheduler, EveryBlockOnceAndNoSharedStripe) {
  for (const Shape& shape : kShapes) {
    Rng rng(23);
    const auto cells = random_cells(shape.users, shape.items, shape.density, rng);
    BlockScheduler scheduler(cells, shape.users, shape.items, GetParam());
    for (int epoch = 1; epoch <= 3; ++epoch) {
      scheduler.start_epoch(Rng(1, static_cast<std::uint64_t>(epoch)));
      std::vector<int> runs(cells.size());
      std::vector<std::int32_t> running;
      for (;;) {
        const auto block =
            std::ssize(running) < shape.workers ? scheduler.try_take() : std::nullopt;
        if (block) {
          const GridCell cell = cells[*block];
          for (const std::int32_t other : running) {
            EXPECT_NE(cell.user_stripe, cells[other].user_stripe);
            EXPECT_NE(cell.item_stripe, cells[other].item_stripe);
          }
          ++runs[*block];
          running.push_back(*block);
        } else if (!running.empty()) {
          const auto k = static_cast<std::ptrdiff_t>(rng.below(running.size()));
          scheduler.give_back(running[k]);
          running.erase(running.begin() + k);
        } else {
          break;
        }
      }
      EXPECT_EQ(runs, std::vector<int>(cells.size(), 1));
    }
  }
}

// A worker is refused only when every pending block shares a stripe with a running one.
TEST_P(Scheduler, RefusesOnlyWhenNothingIsFree) {
  Rng rng(5);
  const auto cells = random_cells(6, 6, 0.6, rng);
  BlockScheduler scheduler(cells, 6, 6, GetParam());
  scheduler.start_epoch(Rng(9));
  std::vector<char> taken(cells.size());
  std::vector<char> user_busy(6);
  std::vector<char> item_busy(6);
  while (const auto block = scheduler.try_take()) {
    taken[*block] = 1;
    user_busy[cells[*block].user_stripe] = 1;
    item_busy[cells[*block].item_stripe] = 1;
  }
  for (std::size_t k = 0; k < cells.size(); ++k) {
    EXPECT_TRUE(taken[k] || user_busy[cells[k].user_stripe] || item_busy[cells[k].item_stripe]);
  }
}

// Threads write to their stripes without any lock: ThreadSanitizer sees a stripe handed out twice.
TEST_P(Scheduler, ThreadsOwnTheirStripes) {
  for (const Shape& shape : kShapes) {
    Rng rng(31);
    const auto cells = random_cells(shape.users, shape.items, shape.density, rng);
    BlockScheduler scheduler(cells, shape.users, shape.items, GetParam());
    ThreadTeam team(shape.workers);
    std::vector<std::int64_t> user_sum(shape.users);
    std::vector<std::int64_t> item_sum(shape.items);
    std::vector<int> runs(cells.size());
    constexpr int kEpochs = 20;
    for (int epoch = 1; epoch <= kEpochs; ++epoch) {
      scheduler.start_epoch(Rng(2, static_cast<std::uint64_t>(epoch)));
      team.run([&](int) {
        for (auto block = scheduler.take(); block; block = scheduler.swap(*block)) {
          ++runs[*block];
          ++user_sum[cells[*block].user_stripe];
          ++item_sum[cells[*block].item_stripe];
        }
      });
    }
    EXPECT_EQ(runs, std::vector<int>(cells.size(), kEpochs));
    std::vector<std::int64_t> users(user_sum.size());
    std::vector<std::int64_t> items(item_sum.size());
    for (const GridCell cell : cells) {
      users[cell.user_stripe] += kEpochs;
      items[cell.item_stripe] += kEpochs;
    }
    EXPECT_EQ(user_sum, users);
    EXPECT_EQ(item_sum, items);
  }
}

TEST_P(Scheduler, StopEndsTheEpochAndTheNextOneIsWhole) {
  Rng rng(1);
  const auto cells = random_cells(8, 8, 1, rng);
  BlockScheduler scheduler(cells, 8, 8, GetParam());
  ThreadTeam team(3);
  scheduler.start_epoch(Rng(1));
  std::atomic<int> taken{0};
  std::atomic<int> late{0};
  std::atomic<bool> stopped{false};
  team.run([&](int) {
    auto block = scheduler.take();
    while (block) {
      if (++taken == 5) {
        scheduler.stop();
        stopped = true;
      }
      const bool was_stopped = stopped;
      block = scheduler.swap(*block);
      late += was_stopped && block ? 1 : 0;
    }
  });
  EXPECT_GE(taken, 5);
  EXPECT_EQ(late, 0) << "blocks given out after stop()";
  taken = 0;
  scheduler.start_epoch(Rng(2));
  team.run([&](int) {
    for (auto block = scheduler.take(); block; block = scheduler.swap(*block)) ++taken;
  });
  EXPECT_EQ(taken, 64);
}

INSTANTIATE_TEST_SUITE_P(Orders, Scheduler,
                         testing::Values(BlockOrder::random, BlockOrder::local, BlockOrder::first));

std::vector<std::int32_t> order_of(BlockScheduler& scheduler, Rng rng) {
  scheduler.start_epoch(rng);
  std::vector<std::int32_t> order;
  for (auto block = scheduler.take(); block; block = scheduler.swap(*block))
    order.push_back(*block);
  return order;
}

TEST(BlockOrders, OneThreadIsReproducible) {
  Rng rng(1);
  const auto cells = random_cells(6, 7, 0.8, rng);
  for (const BlockOrder kind : {BlockOrder::random, BlockOrder::local, BlockOrder::first}) {
    BlockScheduler scheduler(cells, 6, 7, kind);
    const auto first = order_of(scheduler, Rng(1, 1));
    EXPECT_EQ(first, order_of(scheduler, Rng(1, 1)));
    EXPECT_EQ(first == order_of(scheduler, Rng(1, 2)), kind == BlockOrder::first);
  }
}

// Nine blocks, 9000 epochs: the first and the last block of an epoch are each block 1000 times;
// chi-square with 8 degrees of freedom is above 40 with probability 3e-6.
TEST(BlockOrders, RandomIsUniform) {
  Rng rng(1);
  const auto cells = random_cells(3, 3, 1, rng);
  BlockScheduler scheduler(cells, 3, 3, BlockOrder::random);
  std::vector<double> first(9);
  std::vector<double> last(9);
  for (std::uint64_t epoch = 0; epoch < 9000; ++epoch) {
    const auto order = order_of(scheduler, Rng(4, epoch));
    first[order.front()] += 1;
    last[order.back()] += 1;
  }
  for (const auto& counts : {first, last}) {
    double chi_square = 0;
    for (const double count : counts) chi_square += (count - 1000) * (count - 1000) / 1000;
    EXPECT_LT(chi_square, 40);
  }
}

TEST(BlockOrders, LocalEndsAUserStripeBeforeTheNext) {
  Rng rng(1);
  const auto cells = random_cells(5, 6, 1, rng);
  BlockScheduler scheduler(cells, 5, 6, BlockOrder::local);
  const auto order = order_of(scheduler, Rng(4));
  int changes = 0;
  for (std::size_t k = 1; k < order.size(); ++k) {
    changes += cells[order[k]].user_stripe != cells[order[k - 1]].user_stripe;
  }
  EXPECT_EQ(changes, 4);
}

}  // namespace
}  // namespace mf::sgd_cpu
