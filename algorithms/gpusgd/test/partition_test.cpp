// Blocks, diagonals and groups, on the host.
#include "algorithms/gpusgd/test/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "algorithms/gpusgd/test/support.hpp"
#include "base/json/json.hpp"

namespace mf::gpusgd {
namespace {

struct Shape {
  std::int32_t m, n;
  double density;
};

// Square, wide, tall, one row, one column, one rating, full, and empty.
constexpr Shape kShapes[] = {{50, 50, 0.1}, {20, 93, 0.2}, {130, 17, 0.15}, {1, 40, 0.4},
                             {40, 1, 0.3},  {1, 1, 1},     {12, 12, 1},     {30, 20, 0}};
constexpr std::int32_t kBlocks[] = {1, 2, 3, 7, 8, 25, 64, 200};

auto key(const Rating& r) { return std::tuple(r.user, r.item, r.value); }

template <class Body>
void for_all(const Body& body) {
  ThreadTeam team(3);
  for (const Shape& shape : kShapes) {
    const Ratings train = random_matrix(shape.m, shape.n, shape.density);
    for (const std::int32_t l : kBlocks) {
      for (const bool square : {true, false}) {
        const Cut cut =
            square ? square_cut(shape.m, shape.n, l) : rectangular_cut(shape.m, shape.n, l);
        SCOPED_TRACE(testing::Message() << shape.m << " x " << shape.n << ", l = " << l
                                        << (square ? ", square" : ", rectangular"));
        body(train, cut, team);
      }
    }
  }
}

// Calls body(tag, block row, first rating, end) for every block.
template <class Body>
void for_blocks(const Partition& partition, const Body& body) {
  const std::int32_t l = partition.cut.blocks;
  for (std::int32_t tag = 0; tag < l; ++tag) {
    for (std::int32_t row = 0; row < l; ++row) {
      const std::int64_t slot = slot_of(tag, row, l);
      body(tag, row, partition.offsets[slot], partition.offsets[slot + 1]);
    }
  }
}

Json facts_for(Scheme scheme, const Json& changes, const Ratings& train, ThreadTeam& team) {
  const Settings settings = settings_of(scheme, changes);
  return facts_of(settings, arrange(settings, train, 1, team), train);
}

void expect_every_rating_once(const Ratings& train, const Partition& partition) {
  std::multiset<std::tuple<std::int32_t, std::int32_t, float>> left;
  for (std::int64_t i = 0; i < train.nnz(); ++i) left.insert(key(train[i]));
  for (const Rating& rating : partition.ratings) {
    const auto found = left.find(key(rating));
    ASSERT_NE(found, left.end()) << rating.user << " " << rating.item;
    left.erase(found);
  }
  EXPECT_TRUE(left.empty());
}

TEST(Schedule, ADiagonalMeetsEveryRowAndColumnOnce) {
  for (const std::int32_t l : kBlocks) {
    for (std::int32_t tag = 0; tag < l; ++tag) {
      std::set<std::int32_t> columns;
      for (std::int32_t row = 0; row < l; ++row) {
        const std::int32_t column = column_of(row, tag, l);
        EXPECT_EQ(column, (row + tag) % l);
        EXPECT_EQ(tag_of(row, column, l), tag);
        columns.insert(column);
      }
      EXPECT_EQ(std::ssize(columns), l);
    }
  }
}

TEST(Schedule, IndicesDoNotOverflow) {
  constexpr std::int32_t kMost = 2147483647;
  EXPECT_EQ(slot_of(99999, 99999, 100000), 9999999999LL);
  EXPECT_EQ(square_cut(kMost, 5, 2).rows, 1073741824);
  EXPECT_EQ(rectangular_cut(kMost, kMost, 1).columns, kMost);
  EXPECT_EQ(group_of(kMost - 1, 0, kMost), 1);
}

TEST(Schedule, AGroupOfABlockSharesNoRowAndNoColumn) {
  constexpr std::int32_t kSide = 9;
  std::map<std::int32_t, std::set<std::int32_t>> columns;
  for (std::int32_t user = 3 * kSide; user < 4 * kSide; ++user) {
    std::set<std::int32_t> groups;
    for (std::int32_t item = 7 * kSide; item < 8 * kSide; ++item) {
      const std::int32_t group = group_of(user, item, kSide);
      EXPECT_EQ(group, ((item - user) % kSide + kSide) % kSide);
      groups.insert(group);
      EXPECT_TRUE(columns[group].insert(item).second) << "two of a group in one column";
    }
    EXPECT_EQ(std::ssize(groups), kSide) << "two of a group in one row";
  }
}

TEST(Cut, RoundsUpAndIsNeverEmpty) {
  const Cut square = square_cut(100, 30, 8);
  EXPECT_EQ(std::tuple(square.rows, square.columns), std::tuple(13, 13));
  const Cut rectangular = rectangular_cut(100, 30, 8);
  EXPECT_EQ(std::tuple(rectangular.rows, rectangular.columns), std::tuple(13, 4));
  EXPECT_EQ(square_cut(0, 0, 5).rows, 1);
  EXPECT_EQ(rectangular_cut(0, 3, 5).rows, 1);
}

void expect_in_blocks(const Partition& partition, const Cut& cut, bool sorted) {
  for_blocks(partition, [&](std::int32_t tag, std::int32_t row, std::int64_t at, std::int64_t end) {
    ASSERT_LE(at, end);
    for (std::int64_t first = at; at < end; ++at) {
      const Rating& rating = partition.ratings[at];
      ASSERT_EQ(rating.user / cut.rows, row);
      ASSERT_EQ(rating.item / cut.columns, (row + tag) % cut.blocks);
      if (at == first || !sorted) continue;
      const Rating& last = partition.ratings[at - 1];
      ASSERT_LT(std::pair(last.user, last.item), std::pair(rating.user, rating.item));
    }
  });
}

TEST(Partition, HasEveryRatingOnceInItsBlock) {
  for_all([](const Ratings& train, const Cut& cut, ThreadTeam& team) {
    const Partition partition = make_partition(train, cut, team);
    expect_every_rating_once(train, partition);
    EXPECT_EQ(partition.offsets.front(), 0);
    EXPECT_EQ(partition.offsets.back(), train.nnz());
    expect_in_blocks(partition, cut, true);
  });
}

TEST(Partition, BlocksOfATagShareNoUserAndNoItem) {
  for_all([](const Ratings& train, const Cut& cut, ThreadTeam& team) {
    const Partition partition = make_partition(train, cut, team);
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> user_block, item_block;
    for_blocks(partition,
               [&](std::int32_t tag, std::int32_t row, std::int64_t at, std::int64_t end) {
                 for (; at < end; ++at) {
                   const Rating& rating = partition.ratings[at];
                   ASSERT_EQ(user_block.try_emplace({tag, rating.user}, row).first->second, row);
                   ASSERT_EQ(item_block.try_emplace({tag, rating.item}, row).first->second, row);
                 }
               });
  });
}

TEST(Facts, BlankBlocksAreCounted) {
  for_all([](const Ratings& train, const Cut& cut, ThreadTeam& team) {
    std::set<std::pair<std::int32_t, std::int32_t>> with_rating, with_cell;
    for (std::int64_t i = 0; i < train.nnz(); ++i) {
      with_rating.insert({train[i].user / cut.rows, train[i].item / cut.columns});
    }
    for (std::int32_t u = 0; u < train.n_users(); ++u) {
      for (std::int32_t i = 0; i < train.n_items(); ++i) {
        with_cell.insert({u / cut.rows, i / cut.columns});
      }
    }
    const Scheme scheme = cut.rows == cut.columns ? Scheme::grouped : Scheme::tree;
    const Json facts = facts_for(scheme, {{"blocks", cut.blocks}}, train, team);
    EXPECT_EQ(facts["block_users"], cut.rows);
    EXPECT_EQ(facts["block_items"], cut.columns);
    const std::int64_t all = std::int64_t{cut.blocks} * cut.blocks;
    EXPECT_EQ(facts["blocks"], all);
    EXPECT_EQ(facts["blank_blocks"], all - std::ssize(with_rating));
    EXPECT_EQ(facts["padding_blocks"], all - std::ssize(with_cell));
  });
}

// More than one piece in a row of blocks.
TEST(Partition, IsTheSameForAnyNumberOfThreads) {
  const Ratings train = random_matrix(700, 700, 0.5, 5);
  ThreadTeam one(1);
  ThreadTeam four(4);
  for (const std::int32_t l : {1, 2}) {
    const Cut cut = rectangular_cut(1300, 1300, l);
    const Partition a = make_partition(train, cut, one);
    const Partition b = make_partition(train, cut, four);
    EXPECT_EQ(a.offsets, b.offsets);
    ASSERT_EQ(a.ratings.size(), b.ratings.size());
    for (std::int64_t i = 0; i < std::ssize(a.ratings); ++i) {
      ASSERT_EQ(key(a.ratings[i]), key(b.ratings[i])) << i;
      if (l == 1) {
        ASSERT_EQ(key(a.ratings[i]), key(train[i]));
      }
    }
  }
}

TEST(Groups, CoverTheBlocksAndShareNoUserAndNoItem) {
  ThreadTeam team(3);
  for (const Shape& shape : kShapes) {
    const Ratings train = random_matrix(shape.m, shape.n, shape.density);
    for (const std::int32_t l : kBlocks) {
      const Cut cut = square_cut(shape.m, shape.n, l);
      Partition partition = make_partition(train, cut, team);
      const Groups groups = group_blocks(partition, team);
      expect_every_rating_once(train, partition);
      ASSERT_EQ(groups.first.size(), partition.offsets.size());
      for (std::int64_t slot = 0; slot < partition.slots(); ++slot) {
        const std::int64_t first = groups.first[slot];
        const std::int64_t end = groups.first[slot + 1];
        EXPECT_EQ(first < end, partition.offsets[slot] < partition.offsets[slot + 1]);
        if (first < end) {
          EXPECT_EQ(groups.begins[first], partition.offsets[slot]);
          EXPECT_EQ(groups.begins[end], partition.offsets[slot + 1]);
        }
        std::int32_t last_group = -1;
        for (std::int64_t g = first; g < end; ++g) {
          ASSERT_LT(groups.begins[g], groups.begins[g + 1]) << "an empty group";
          std::set<std::int32_t> users, items, numbers;
          for (std::int64_t i = groups.begins[g]; i < groups.begins[g + 1]; ++i) {
            const Rating& rating = partition.ratings[i];
            EXPECT_TRUE(users.insert(rating.user).second);
            EXPECT_TRUE(items.insert(rating.item).second);
            numbers.insert(group_of(rating.user, rating.item, cut.rows));
          }
          ASSERT_EQ(numbers.size(), 1U);
          EXPECT_LT(last_group, *numbers.begin());
          last_group = *numbers.begin();
        }
      }
    }
  }
}

// Both ways of sorting a block: by a table of its groups, and by comparison in sparse blocks.
TEST(Groups, AreSortedByUserInside) {
  ThreadTeam team(2);
  for (const double density : {0.0005, 0.5}) {
    const Ratings train = random_matrix(400, 400, density, 3);
    Partition partition = make_partition(train, square_cut(400, 400, 2), team);
    const Groups groups = group_blocks(partition, team);
    ASSERT_GT(groups.begins.size(), 10U);
    for (std::int64_t g = 0; g + 1 < std::ssize(groups.begins); ++g) {
      for (std::int64_t i = groups.begins[g] + 1; i < groups.begins[g + 1]; ++i) {
        EXPECT_LT(partition.ratings[i - 1].user, partition.ratings[i].user);
      }
    }
  }
}

TEST(Shuffle, KeepsTheBlocksAndDependsOnTheSeed) {
  const Ratings train = random_matrix(60, 60, 0.5);
  const Cut cut = rectangular_cut(60, 60, 4);
  const auto shuffled = [&](std::uint64_t seed, int threads) {
    ThreadTeam team(threads);
    Partition partition = make_partition(train, cut, team);
    shuffle_blocks(partition, train, seed);
    return partition;
  };
  const auto keys = [](const Partition& partition) {
    std::vector<std::tuple<std::int32_t, std::int32_t, float>> all;
    for (const Rating& rating : partition.ratings) all.push_back(key(rating));
    return all;
  };
  const Partition one = shuffled(1, 1);
  expect_every_rating_once(train, one);
  expect_in_blocks(one, cut, false);
  EXPECT_EQ(keys(one), keys(shuffled(1, 4)));
  EXPECT_NE(keys(one), keys(shuffled(2, 1)));
}

TEST(Facts, LanesOfGroupsAreCountedByTheStep) {
  ThreadTeam team(2);
  for (const int threads : {1, 3, 256}) {
    const Ratings train = random_matrix(90, 70, 0.3);
    std::int64_t lanes = 0;
    std::int64_t serial = 0;
    for (std::int32_t tag = 0; tag < 5; ++tag) {
      std::int64_t longest = 0;
      for (std::int32_t row = 0; row < 5; ++row) {
        std::map<std::int32_t, std::int64_t> sizes;
        for (std::int64_t i = 0; i < train.nnz(); ++i) {
          const Rating rating = train[i];
          if (rating.user / 18 != row || rating.item / 18 != (row + tag) % 5) continue;
          ++sizes[((rating.item - rating.user) % 18 + 18) % 18];
        }
        std::int64_t steps = 0;
        for (const auto& [group, size] : sizes) steps += (size + threads - 1) / threads;
        lanes += steps * threads;
        longest = std::max(longest, steps);
      }
      serial += longest;
    }
    const Json facts =
        facts_for(Scheme::grouped, {{"blocks", 5}, {"threads_per_block", threads}}, train, team);
    EXPECT_EQ(facts["lane_steps"], lanes);
    EXPECT_EQ(facts["idle_lane_steps"], lanes - train.nnz());
    EXPECT_EQ(facts["serial_steps"], serial);
  }
}

TEST(Facts, LanesOfTheTreeAreCountedByTheRound) {
  ThreadTeam team(2);
  const Ratings train = random_matrix(30, 40, 0.5);
  for (const int f : {1, 2, 7, 16, 32, 33, 100, 1024}) {
    const int threads = (f + 31) / 32 * 32;
    std::int64_t idle = 2 * (threads - f);  // products and update
    int steps = 2;
    for (int distance = 1; distance < f; distance *= 2, ++steps) {
      for (int k = 0; k < threads; ++k) idle += !adds(k, distance, f);
    }
    const Json facts = facts_for(Scheme::tree, {{"blocks", 1}, {"factors", f}}, train, team);
    EXPECT_EQ(tree_rounds(f), steps - 2);
    EXPECT_EQ(facts["lane_steps"], train.nnz() * steps * threads) << f;
    EXPECT_EQ(facts["idle_lane_steps"], train.nnz() * idle) << f;
    EXPECT_EQ(facts["serial_steps"], train.nnz() * steps) << f;
  }
}

}  // namespace
}  // namespace mf::gpusgd
