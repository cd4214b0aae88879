// Several ranks load and cut the same data together as one process, bit for bit. Ranks are threads
// here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <tuple>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/rng.hpp"
#include "datasets/cache.hpp"
#include "datasets/ratings/rank_blocks.hpp"
#include "datasets/ratings/rank_offsets.hpp"
#include "datasets/ratings/rank_parts.hpp"
#include "datasets/ratings/rating_slice.hpp"
#include "datasets/split/split.hpp"
#include "testing/rank_threads.hpp"
#include "testing/test_support.hpp"
#include "testing/triples.hpp"

namespace mf {
namespace {

Dataset make_data(std::int32_t n_users, std::int32_t n_items, double density,
                  std::uint64_t seed = 7) {
  Rng rng(seed);
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < n_users; ++u) {
    const double share = 2 * density * rng.uniform();
    for (std::int32_t i = 0; i < n_items; ++i) {
      if (rng.uniform() >= share) continue;
      list.push_back({u, i, static_cast<float>(1 + rng.uniform())});
    }
  }
  Dataset data;
  data.info.name = "made";
  data.ratings = test::ratings_of(n_users, n_items, list, {10}, {100, 2});
  data.info.content_hash = content_hash(data.ratings, 1);
  return data;
}

void expect_no_errors(const std::vector<std::string>& errors) {
  for (const auto& error : errors) EXPECT_EQ(error, "");
}

// The rows [begin, end) of `whole` are all that `part` has.
void expect_rows(const Ratings& part, const Ratings& whole, std::int64_t begin, std::int64_t end) {
  const auto offsets = whole.user_offsets();
  ASSERT_EQ(part.nnz(), offsets[end] - offsets[begin]);
  ASSERT_EQ(part.n_users(), whole.n_users());
  ASSERT_EQ(part.n_items(), whole.n_items());
  for (std::int64_t k = 0; k < part.nnz(); ++k) {
    const Rating own = part[k], other = whole[offsets[begin] + k];
    ASSERT_EQ(own.user, other.user);
    ASSERT_EQ(own.item, other.item);
    ASSERT_EQ(own.value, other.value);
  }
  for (std::int64_t u = 0; u <= whole.n_users(); ++u)
    ASSERT_EQ(part.user_offsets()[u], offsets[std::clamp(u, begin, end)] - offsets[begin]);
}

void expect_same(const SplitSlice& slice, const Split& whole, const RatingFacts& facts, int rank) {
  const std::int64_t begin = slice.train.users[rank], end = slice.train.users[rank + 1];
  expect_rows(slice.split.train, whole.train, begin, end);
  const auto offsets = whole.train.user_offsets();
  EXPECT_TRUE(std::ranges::equal(slice.train.own_users(),
                                 whole.train.users().part(offsets[begin], offsets[end])));
  expect_rows(slice.split.test, whole.test, begin, end);
  if (whole.validation.nnz() > 0) expect_rows(slice.split.validation, whole.validation, begin, end);
  if (whole.fold_in.nnz() > 0) expect_rows(slice.split.fold_in, whole.fold_in, begin, end);
  EXPECT_EQ(slice.sizes.train, whole.train.nnz());
  EXPECT_EQ(slice.sizes.test, whole.test.nnz());
  EXPECT_EQ(slice.sizes.validation, whole.validation.nnz());
  EXPECT_EQ(slice.sizes.fold_in, whole.fold_in.nnz());
  EXPECT_EQ(slice.split.cold_users, whole.cold_users);
  EXPECT_EQ(slice.split.cold_items, whole.cold_items);
  EXPECT_EQ(slice.split.cold_ratings, whole.cold_ratings);
  EXPECT_EQ(slice.facts.mean, facts.mean);  // to the last bit
  EXPECT_EQ(slice.facts.deviation, facts.deviation);
  EXPECT_EQ(slice.facts.known_user, facts.known_user);
  EXPECT_EQ(slice.facts.known_item, facts.known_item);
  EXPECT_EQ(slice.facts.item_offsets, facts.item_offsets);
  EXPECT_EQ(slice.facts.rating_users, facts.rating_users);
  EXPECT_EQ(slice.facts.rated_items, facts.rated_items);
}

SplitSpec spec_of(SplitSpec::Kind kind, double validation = 0) {
  SplitSpec spec;
  spec.kind = kind;
  spec.validation_fraction = validation;
  return spec;
}

void expect_slices(const Dataset& data, const SplitSpec& spec, int ranks) {
  const Split whole = make_split(data, spec, 1);
  const RatingFacts facts = facts_of(whole.train, 1);
  expect_no_errors(test::in_rank_threads(ranks, [&](Communicator& of) {
    Dataset own;  // memory of it is given back
    own.info = data.info;
    own.parts = data.parts;
    own.ratings = Ratings(test::arrays_of(data.ratings));
    const PartOffsets users = cut_users_evenly(own.ratings.user_offsets(), of.size());
    const SplitSlice slice = make_split_slice(std::move(own), spec, users, of, 1 + of.rank() % 2,
                                              UsersColumn::on_demand);
    EXPECT_EQ(slice.split.train.has_users(), slice.split.train.nnz() == 0);
    expect_same(slice, whole, facts, of.rank());
  }));
}

class Slices : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Slices, testing::Values(1, 2, 3, 4, 7));

TEST_P(Slices, OfEveryKindOfSplitAreThoseOfOneProcess) {
  Dataset data = make_data(600, 400, 0.6);  // more than one block of 65,536
  for (const double validation : {0.0, 0.1}) {
    for (const auto kind :
         {SplitSpec::Kind::holdout, SplitSpec::Kind::leave_out, SplitSpec::Kind::users})
      expect_slices(data, spec_of(kind, validation), GetParam());
  }
  data.parts = test::labels_by(data.ratings.nnz(),
                               [](std::int64_t k) { return k % 7 == 0 ? kTest : kTrain; });
  expect_slices(data, spec_of(SplitSpec::Kind::given), GetParam());
  expect_slices(data, spec_of(SplitSpec::Kind::given, 0.2), GetParam());
}

// Three users: some ranks have no row.
TEST_P(Slices, MayBeEmpty) {
  expect_slices(make_data(3, 40, 0.5), spec_of(SplitSpec::Kind::holdout, 0.1), GetParam());
  expect_slices(make_data(1, 40, 0.5), spec_of(SplitSpec::Kind::holdout), GetParam());
}

// Lengths of one, two and four bytes; a rank without rows; more rows than a thread takes at a time.
TEST_P(Slices, RowsBeginWhereTheyDoInOneProcess) {
  for (const std::int64_t longest : {1, 200, 256, 70'000}) {
    for (const std::int64_t rows : {0, 3, 200'001}) {
      Rng rng(static_cast<std::uint64_t>(longest + rows));
      AlignedVector<std::int64_t> whole = {0};
      for (std::int64_t row = 0; row < rows; ++row) {
        const auto drawn =
            static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(longest)));
        whole.push_back(whole.back() + (row == rows / 2 ? longest : drawn));
      }
      expect_no_errors(test::in_rank_threads(GetParam(), [&](Communicator& of) {
        PartOffsets cuts = {0};
        for (int rank = 1; rank <= of.size(); ++rank)
          cuts.push_back(rank == of.size() ? rows : rows / (2 * of.size()) * (rank / 2) * 2);
        const std::int64_t begin = cuts[of.rank()], end = cuts[of.rank() + 1];
        AlignedVector<std::int64_t> own(rows + 1);
        for (std::int64_t row = 0; row <= rows; ++row)
          own[row] = whole[std::clamp(row, begin, end)] - whole[begin];
        ThreadTeam team(1 + of.rank() % 3);
        EXPECT_EQ(offsets_of_all(own, cuts, of, team), whole);
        EXPECT_EQ(offsets_on_rank_0(own, cuts, of, team),
                  of.leads() ? whole : AlignedVector<std::int64_t>());
      }));
    }
  }
}

// Of few values, which have a table, and of many; cut so that a rank has few rows, another none.
TEST_P(Slices, PartsGoToWhereTheyAreEvaluated) {
  Dataset few = make_data(600, 400, 0.6);
  Ratings::Arrays arrays = test::arrays_of(few.ratings);
  for (float& value : arrays.values) value = std::round(4 * value) / 4;
  few.ratings = Ratings(std::move(arrays));
  for (const Dataset& data : {few, make_data(600, 400, 0.6), make_data(2, 40, 0.5)}) {
    const SplitSpec spec = spec_of(SplitSpec::Kind::holdout, 0.1);
    const Split whole = make_split(data, spec, 1);
    const std::int64_t n = data.ratings.n_users();
    expect_no_errors(test::in_rank_threads(GetParam(), [&](Communicator& of) {
      PartOffsets users = {0};
      for (int rank = 1; rank <= of.size(); ++rank)
        users.push_back(rank == of.size() ? n : std::min<std::int64_t>(n, 5 * (rank / 2) * rank));
      Dataset own;  // memory of it is given back
      own.info = data.info;
      own.parts = data.parts;
      own.ratings = Ratings(test::arrays_of(data.ratings));
      const SplitSlice slice = make_split_slice(std::move(own), spec, users, of, 2);
      ThreadTeam team(2);
      const Ratings placed = ratings_on_rank_0(slice.split.test, users, slice.test_parts, of, team);
      expect_rows(placed, whole.test, 0, of.leads() ? n : 0);
      const Ratings last =
          ratings_on_rank_0(slice.split.validation, users, slice.validation_parts, of, team);
      expect_rows(last, whole.validation, 0, of.leads() ? n : 0);
      const PartOffsets nothing(static_cast<std::size_t>(of.size()) + 1, 0);
      const Ratings none = ratings_on_rank_0(slice.split.fold_in, users, nothing, of, team);
      expect_rows(none, whole.fold_in, 0, 0);
      constexpr std::int64_t kBlock = 1000;
      const BlockRange blocks = blocks_of(slice.test_parts, of.rank(), kBlock);
      const Ratings mine = ratings_of_blocks(slice.split.test, slice.test_parts, kBlock, of, team);
      ASSERT_EQ(mine.nnz(), blocks.size());
      AlignedVector<std::int64_t> offsets(mine.n_users() + std::int64_t{1}, 0);
      for (const auto user : mine.users()) ++offsets[user + 1];
      std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
      ASSERT_TRUE(std::ranges::equal(mine.user_offsets(), offsets));
      for (std::int64_t k = 0; k < mine.nnz(); ++k) {
        const Rating here = mine[k], other = whole.test[blocks.begin + k];
        ASSERT_EQ(std::tie(here.user, here.item, here.value),
                  std::tie(other.user, other.item, other.value));
      }
    }));
  }
}

// ---- exchanges ----

TEST_P(Slices, ExchangeRowsAndColumns) {
  const Ratings whole = make_data(90, 41, 0.4).ratings;
  const Csc columns = make_csc(whole, 1);
  expect_no_errors(test::in_rank_threads(GetParam(), [&](Communicator& of) {
    ThreadTeam team(2);
    const RatingSlice slice = slice_of(whole, of, team);
    EXPECT_EQ(slice.item_offsets, columns.item_offsets);
    // Not those that they have: all to the last rank but a few.
    PartOffsets wanted(of.size() + 1, 0), items(of.size() + 1, 0);
    for (int rank = 0; rank <= of.size(); ++rank) {
      wanted[rank] = rank == of.size() ? 90 : std::min(90, 11 * rank);
      items[rank] = rank == of.size() ? 41 : std::min(41, 13 * rank);
    }
    const RowPieces rows = exchange_rows(slice, wanted, of);
    std::int64_t at = whole.user_offsets()[wanted[of.rank()]];
    EXPECT_EQ(rows.count(), whole.user_offsets()[wanted[of.rank() + 1]] - at);
    for (const auto& piece : rows.pieces) {
      for (std::int64_t k = 0; k < piece.items.size(); ++k, ++at) {
        EXPECT_EQ(piece.items[k], whole.items()[at]);
        EXPECT_EQ(piece.values[k], whole.values()[at]);
      }
    }
    const OwnRows own = exchange_columns(slice, items, of, team);
    for (std::int64_t item = 0; item < 41; ++item) {
      const bool mine = items[of.rank()] <= item && item < items[of.rank() + 1];
      const std::int64_t first = columns.item_offsets[item];
      ASSERT_EQ(own.offsets[item + 1] - own.offsets[item],
                mine ? columns.item_offsets[item + 1] - first : 0);
      for (std::int64_t k = own.offsets[item]; k < own.offsets[item + 1]; ++k) {
        EXPECT_EQ(own.others[k], columns.users[first + k - own.offsets[item]]);
        EXPECT_EQ(own.values[k], columns.values[first + k - own.offsets[item]]);
      }
    }
    const auto rank_of = [&](std::int32_t user) { return user * 7 % 5 % of.size(); };
    const OwnRows users = exchange_users(slice, rank_of, of);
    for (std::int32_t user = 0; user < 90; ++user) {
      const std::int64_t first = whole.user_offsets()[user];
      ASSERT_EQ(users.offsets[user + 1] - users.offsets[user],
                rank_of(user) == of.rank() ? whole.user_offsets()[user + 1] - first : 0);
      for (std::int64_t k = users.offsets[user]; k < users.offsets[user + 1]; ++k) {
        EXPECT_EQ(users.others[k], whole.items()[first + k - users.offsets[user]]);
        EXPECT_EQ(users.values[k], whole.values()[first + k - users.offsets[user]]);
      }
    }
  }));
}

TEST_P(Slices, BlocksAreOfTheRankInWhichTheyBegin) {
  std::vector<std::int64_t> all(100);
  std::iota(all.begin(), all.end(), 0);
  const int ranks = GetParam();
  PartOffsets parts = {0};  // some of them empty, some shorter than a block
  for (int rank = 1; rank <= ranks; ++rank)
    parts.push_back(rank == ranks ? 100
                                  : std::max<std::int64_t>(parts.back(), 9 * rank * rank % 80));
  for (const std::int64_t block : {1, 8, 30, 1000}) {
    expect_no_errors(test::in_rank_threads(ranks, [&](Communicator& of) {
      const View<const std::int64_t> whole(all);
      const View<const std::int64_t> own = whole.part(parts[of.rank()], parts[of.rank() + 1]);
      const auto rest = rest_of_blocks(own, parts, block, of);
      const BlockRange blocks = blocks_of(parts, of.rank(), block);
      std::vector<std::int64_t> mine(own.begin(), own.end());
      mine.insert(mine.end(), rest.begin(), rest.end());
      std::vector<std::int64_t> sums;
      for (std::int64_t at = blocks.begin; at < blocks.end; at += block) {
        std::int64_t sum = 0;
        for (std::int64_t k = at; k < std::min(at + block, blocks.end); ++k) {
          EXPECT_EQ(mine[static_cast<std::size_t>(k - parts[of.rank()])], k);
          sum += k;
        }
        sums.push_back(sum);
      }
      const auto all_sums = sums_of_all(sums, parts, block, of);
      EXPECT_EQ(std::ssize(all_sums), (100 + block - 1) / block);
      EXPECT_EQ(std::accumulate(all_sums.begin(), all_sums.end(), std::int64_t{0}), 4950);
    }));
  }
}

// ---- the cache ----

class SlicedCache : public testing::Test {
 protected:
  void damage(const std::string& path, std::int64_t from_end) const {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-from_end, std::ios::end);
    const char was = static_cast<char>(file.get());
    file.seekp(-from_end, std::ios::end);
    file.put(static_cast<char>(was ^ 1));
  }

  SplitSlice cut_while_read(const SplitSpec& spec, Communicator& of) const {
    CacheSlice read = read_cache_slice(path_, of, 2, false, ReadColumns::when_cut);
    EXPECT_NE(read.data.unread, nullptr);
    return make_split_slice(std::move(read.data), spec, read.users, of, 2);
  }

  void expect_cut_while_read(const Dataset& data, const std::vector<SplitSpec>& specs) const {
    write_cache(path_, data, 1);
    for (const auto& spec : specs) {
      const Split whole = make_split(data, spec, 1);
      const RatingFacts facts = facts_of(whole.train, 1);
      for (const int ranks : {1, 2, 5}) {
        expect_no_errors(test::in_rank_threads(ranks, [&](Communicator& of) {
          expect_same(cut_while_read(spec, of), whole, facts, of.rank());
        }));
      }
    }
  }

  // The errors of ranks that cut wrong ratings while they read them.
  std::vector<std::string> cut_errors(int ranks) const {
    return test::in_rank_threads(
        ranks, [&](Communicator& of) { cut_while_read(spec_of(SplitSpec::Kind::holdout), of); });
  }

  const TempFolder folder_;
  const std::string path_ = folder_ / "one.mfc";
};

TEST_F(SlicedCache, EachRankReadsTheRowsOfItsUsers) {
  Dataset data = make_data(900, 700, 0.6);  // pieces of a MiB that two ranks share
  data.parts =
      test::labels_by(data.ratings.nnz(), [](std::int64_t k) { return k == 5 ? kTest : kTrain; });
  write_cache(path_, data, 1);
  for (const int ranks : {1, 3, 4}) {
    expect_no_errors(test::in_rank_threads(ranks, [&](Communicator& of) {
      const CacheSlice slice = read_cache_slice(path_, of, 2);
      EXPECT_EQ(slice.users, cut_users_evenly(data.ratings.user_offsets(), ranks));
      EXPECT_EQ(slice.data.info.content_hash, data.info.content_hash);
      EXPECT_EQ(slice.data.ratings.nnz(), data.ratings.nnz());
      EXPECT_EQ(slice.data.parts.all[5], kTest);
    }));
  }
}

// Rows that go on from one piece to the next, and rows without ratings between.
TEST_F(SlicedCache, RatingsAreCutWhileTheyAreRead) {
  Dataset data = make_data(900, 700, 0.6);
  data.parts = test::labels_by(data.ratings.nnz(),
                               [](std::int64_t k) { return k % 7 == 0 ? kTest : kTrain; });
  expect_cut_while_read(
      data, {spec_of(SplitSpec::Kind::holdout, 0.1), spec_of(SplitSpec::Kind::leave_out),
             spec_of(SplitSpec::Kind::users, 0.1), spec_of(SplitSpec::Kind::given)});
}

// Some ranks have none.
TEST_F(SlicedCache, FewRatingsAreCutWhileTheyAreRead) {
  expect_cut_while_read(make_data(3, 40, 0.5), {spec_of(SplitSpec::Kind::holdout)});
}

// Whoever reads the damaged piece: all end with the same words.
TEST_F(SlicedCache, DamageIsFoundByAll) {
  const Dataset data = make_data(900, 700, 0.6);
  write_cache(path_, data, 1);
  const std::int64_t ids = 4 * (900 + 700) + 8 * 901 + 64 * 4;
  const std::int64_t column = 4 * data.ratings.nnz();
  for (const std::int64_t from_end : {ids + column / 9, ids + column / 2, ids + column + 900}) {
    write_cache(path_, data, 1);
    damage(path_, from_end);
    for (const auto& error :
         test::in_rank_threads(3, [&](Communicator& of) { read_cache_slice(path_, of, 1); }))
      EXPECT_HAS(error, "the cache is corrupt: checksum of the section");
    for (const auto& error : cut_errors(3))
      EXPECT_HAS(error, "the cache is corrupt: checksum of the section");
  }
}

// With correct checksums. Also in a row that goes on in the next piece.
TEST_F(SlicedCache, WrongRatingsAreFoundWhileTheyAreCut) {
  const Dataset data = make_data(900, 700, 0.6);
  const std::int64_t piece = PieceHash::kPieceBytes / 4;
  ASSERT_GT(data.ratings[piece].item, data.ratings[piece - 1].item) << "a row that goes on";
  const auto with = [&](const auto& change) {
    Ratings::Arrays arrays = test::arrays_of(data.ratings);
    change(arrays);
    Dataset wrong;
    wrong.info = data.info;
    wrong.ratings = Ratings(std::move(arrays));
    write_cache(path_, wrong, 1);
    for (const int ranks : {1, 3})
      for (const auto& error : cut_errors(ranks))
        EXPECT_HAS(error, "the cache is corrupt: its ratings");
  };
  with([&](Ratings::Arrays& of) { of.items[piece] = of.items[piece - 1]; });
  with([&](Ratings::Arrays& of) { of.items[piece + 9] = of.items[piece + 8]; });
  with([](Ratings::Arrays& of) { of.items[4] = -1; });
  with([](Ratings::Arrays& of) { of.items[of.user_offsets[9] - 1] = 700; });
  with([](Ratings::Arrays& of) { of.values[77] = INFINITY; });
}

// On machines with a cache each: of two copies that differ, the rank that has the other is named.
TEST_F(SlicedCache, RanksWithOtherRatingsAreNamed) {
  write_cache(path_, make_data(90, 70, 0.6, 1), 1);
  write_cache(folder_ / "two.mfc", make_data(90, 70, 0.6, 2), 1);
  const auto errors = test::in_rank_threads(3, [&](Communicator& of) {
    read_cache_slice(of.rank() == 2 ? folder_ / "two.mfc" : path_, of, 1);
  });
  for (const auto& error : errors) EXPECT_HAS(error, "rank 2 has other ratings than rank 0");
}

}  // namespace
}  // namespace mf
