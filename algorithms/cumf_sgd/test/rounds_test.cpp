// The rounds of several devices: the work of each, and the transfers for it.
#include "algorithms/cumf_sgd/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf::cumf_sgd {
namespace {

struct Size {
  int ranks, per_rank;
};
const std::vector<Size> kSizes = {{1, 1}, {2, 1}, {2, 2}, {3, 1}, {3, 2}, {4, 1}, {4, 2}, {7, 3}};

// A block is the users of a rank by the items of a segment: each is met once an epoch, so each
// rating is. The rows of P are the rank's; rows of Q belong to only one rank in a round.
TEST(Rounds, EveryBlockIsMetOnceAnEpochAndNoTwoRanksShareRows) {
  for (const Size size : kSizes) {
    Rounds rounds(size.ranks, size.per_rank, 5);
    for (int epoch = 1; epoch <= 6; ++epoch) {
      std::set<std::pair<int, int>> met;
      for (const Round& round : rounds.plan_epoch(epoch)) {
        ASSERT_EQ(std::ssize(round.segment), size.ranks);
        const std::set<int> different(round.segment.begin(), round.segment.end());
        EXPECT_EQ(std::ssize(different), size.ranks) << "two ranks on a segment";
        for (int rank = 0; rank < size.ranks; ++rank) met.insert({rank, round.segment[rank]});
      }
      EXPECT_EQ(std::ssize(met), size.ranks * rounds.segments()) << "a block was left out";
    }
  }
}

// Only transfers, from the first places of segments: each is on the rank that works on it, with all
// earlier updates, and none moves meanwhile.
TEST(Rounds, SegmentsAreWhereTheyAreWorkedOn) {
  for (const Size size : kSizes) {
    Rounds rounds(size.ranks, size.per_rank, 7);
    std::vector<int> where, visits;
    for (int s = 0; s < rounds.segments(); ++s) {
      where.push_back(s / size.per_rank);
      EXPECT_EQ(rounds.holder(s), where.back());
    }
    visits.assign(rounds.segments(), 0);
    std::vector<int> before;  // worked on in the last round
    for (int epoch = 1; epoch <= 5; ++epoch) {
      std::vector<Round> all = rounds.plan_epoch(epoch);
      EXPECT_TRUE(all.front().early.empty()) << "the end of an epoch is not known before it";
      for (const Round& round : all) {
        for (const auto* transfers : {&round.early, &round.late}) {
          std::set<int> receives;
          std::set<std::pair<int, int>> pairs;
          for (const Transfer& one : *transfers) {
            EXPECT_EQ(where[one.segment], one.from);
            EXPECT_NE(one.from, one.to);
            EXPECT_TRUE(receives.insert(one.to).second);
            EXPECT_TRUE(pairs.insert({one.from, one.to}).second);
            const bool was_busy =
                std::find(before.begin(), before.end(), one.segment) != before.end();
            EXPECT_FALSE(transfers == &round.early && was_busy);
            where[one.segment] = one.to;
          }
        }
        for (int rank = 0; rank < size.ranks; ++rank) {
          EXPECT_EQ(where[round.segment[rank]], rank);
          ++visits[round.segment[rank]];
        }
        before = round.segment;
      }
      for (int s = 0; s < rounds.segments(); ++s) EXPECT_EQ(rounds.holder(s), where[s]);
    }
    for (const int times : visits) EXPECT_EQ(times, 5 * size.ranks);
  }
}

// Bytes: a segment must visit each of K ranks, so it moves at least K - 1 times an epoch, and once
// more if the next epoch begins elsewhere.
TEST(Rounds, MoveNoMoreThanTheyMust) {
  for (const Size size : kSizes) {
    Rounds rounds(size.ranks, size.per_rank, 9);
    for (int epoch = 1; epoch <= 6; ++epoch) {
      std::vector<int> moves(rounds.segments(), 0);
      for (const Round& round : rounds.plan_epoch(epoch)) {
        for (const Transfer& one : round.early) ++moves[one.segment];
        for (const Transfer& one : round.late) ++moves[one.segment];
      }
      for (const int times : moves) {
        EXPECT_GE(times, size.ranks - 1);
        EXPECT_LE(times, size.ranks);
      }
    }
  }
}

// With two segments a rank nothing within an epoch waits for the round before.
TEST(Rounds, TwoSegmentsARankTravelWhileOthersAreWorkedOn) {
  for (const int ranks : {2, 3, 4}) {
    Rounds two(ranks, 2, 1), one(ranks, 1, 1);
    for (int epoch = 1; epoch <= 5; ++epoch) {
      const std::vector<Round> hidden = two.plan_epoch(epoch);
      for (std::size_t number = 1; number < hidden.size(); ++number) {
        EXPECT_TRUE(hidden[number].late.empty());
      }
      const std::vector<Round> waited = one.plan_epoch(epoch);
      for (std::size_t number = 1; number < waited.size(); ++number) {
        EXPECT_TRUE(waited[number].early.empty());
      }
    }
  }
}

TEST(Rounds, OrdersAreDrawnAnewAndTheSameForASeed) {
  const auto order = [](std::uint64_t seed, int epoch) {
    std::vector<int> segments;
    for (const Round& round : Rounds(4, 2, seed).plan_epoch(epoch)) {
      segments.push_back(round.segment[0]);
    }
    return segments;
  };
  EXPECT_EQ(order(3, 1), order(3, 1));
  std::set<std::vector<int>> different;
  for (int epoch = 1; epoch <= 10; ++epoch) different.insert(order(3, epoch));
  EXPECT_GT(different.size(), 5U);
  EXPECT_NE(order(3, 1), order(4, 1));
}

// Netflix' 1.1 MB a round are hidden by nothing and need not be; Yahoo! Music's 40 MB are.
TEST(Segments, AreTwoWhereTheTransferIsLong) {
  const auto shape = [](std::int64_t users, std::int64_t items, std::int64_t nnz) {
    return SegmentShape{4, items, nnz, 256, lock_free_workers({users, items, nnz})};
  };
  const SegmentShape netflix = shape(480'189, 17'770, 99'072'112);
  const SegmentShape yahoo = shape(1'000'990, 624'961, 252'800'275);
  EXPECT_EQ(segments_of_rank(netflix), 1);
  EXPECT_EQ(segments_of_rank(yahoo), 2);
  EXPECT_EQ(workers_of_rank(netflix, 1), netflix.workers / 4);
  EXPECT_EQ(workers_of_rank(yahoo, 2), yahoo.workers / 8);
  EXPECT_EQ(workers_of_rank({4, 3, 3, 256, 2}, 2), 1);
}

}  // namespace
}  // namespace mf::cumf_sgd
