// Packed ratings come back bit for bit, whatever they are.
#include "datasets/ratings/packed/rating_packer.hpp"

#include <gtest/gtest.h>

#include "datasets/ratings/ratings.hpp"
#include "testing/packable.hpp"
#include "testing/triples.hpp"

namespace mf {
namespace {

PackedRatings packed(const test::Packable& ratings, int threads = 2) {
  ThreadTeam team(threads);
  return pack_ratings(View(ratings.items), View(ratings.values), ratings.n_items, team);
}

// Reads the form as its header describes it, a bit at a time.
class BitReader {
 public:
  explicit BitReader(const AlignedVector<std::uint64_t>& words) : words_(words) {}

  std::uint64_t next(int bits) {
    std::uint64_t number = 0;
    for (int bit = 0; bit < bits; ++bit, ++at_) {
      const std::uint64_t word = words_[at_ / 64];
      if ((word & (std::uint64_t{1} << (at_ % 64))) != 0) number |= std::uint64_t{1} << bit;
    }
    return number;
  }

 private:
  const AlignedVector<std::uint64_t>& words_;
  std::int64_t at_ = 0;
};

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(RatingPacker, RatingsComeBackBitForBit) {
  for (const auto& ratings : test::packables(3)) {
    const PackedRatings all = packed(ratings);
    ASSERT_EQ(all.count, std::ssize(ratings.items));
    BitReader reader(all.words);
    for (std::int64_t i = 0; i < all.count; ++i) {
      const std::uint64_t item = reader.next(all.form.item_bits);
      const std::uint64_t value = reader.next(all.form.value_bits);
      ASSERT_EQ(item, static_cast<std::uint64_t>(ratings.items[i])) << ratings.name << " " << i;
      const std::uint64_t bits =
          all.table.empty() ? value : bits_of(all.table[static_cast<std::int64_t>(value)]);
      ASSERT_EQ(bits, bits_of(ratings.values[i])) << ratings.name << " " << i;
    }
  }
}

TEST(RatingPacker, WhatKernelsReadIsTheSame) {
  for (const auto& ratings : test::packables(4)) {
    PackedRatings all = packed(ratings);
    all.words.push_back(~std::uint64_t{0});  // the word behind them
    for (std::int64_t i = 0; i < all.count; ++i) {
      const RowRating one = unpacked(all.form, all.table.data(), all.words.data(), i);
      ASSERT_EQ(one.other, ratings.items[i]) << ratings.name << " " << i;
      ASSERT_EQ(bits_of(one.value), bits_of(ratings.values[i])) << ratings.name << " " << i;
    }
  }
}

int bits_a_rating(std::int64_t n_items, int values) {
  Rng rng(1);
  std::vector<float> set;
  for (int value = 0; value < values; ++value) set.push_back(static_cast<float>(value));
  return packed(test::packable(n_items, set, 5000, rng)).form.bits();
}

TEST(RatingPacker, TakesNoMoreBitsThanTheRatingsNeed) {
  EXPECT_EQ(bits_a_rating(17'770, 5), 15 + 3) << "Netflix";
  EXPECT_EQ(bits_a_rating(17'770, 1), 15) << "observed pairs";
  EXPECT_EQ(bits_a_rating(1, 1), 0);
  EXPECT_EQ(bits_a_rating(1 << 16, 256), 16 + 8);
  EXPECT_EQ(bits_a_rating((1 << 16) + 1, 257), 17 + 32) << "values by themselves";
  EXPECT_EQ(bits_a_rating((std::int64_t{1} << 31) - 1, 300), 31 + 32);
}

TEST(RatingPacker, TheBytesDoNotDependOnTheThreads) {
  Rng rng(5);
  const auto ratings = test::packable(1000, {5, 1, 4, 2, 3}, 300'000, rng);
  const PackedRatings one = packed(ratings, 1), three = packed(ratings, 3);
  EXPECT_EQ(one.words, three.words);
  EXPECT_EQ(one.table, three.table);
  EXPECT_EQ(one.table, AlignedVector<float>({1, 2, 3, 4, 5}));
}

TEST(RatingPacker, ValuesOfSeveralViewsHaveOneTable) {
  ThreadTeam team(2);
  RatingPacker packer(7);
  const AlignedVector<float> first = {3, 1, 3}, second = {2, 1};
  packer.look_at(View(first), team);
  packer.look_at(View<const float>(), team);
  packer.look_at(View(second), team);
  EXPECT_EQ(packer.table(), AlignedVector<float>({1, 2, 3}));
  EXPECT_EQ(packer.form().value_bits, 2);
  AlignedVector<float> many;
  for (int i = 0; i < 254; ++i) many.push_back(100.0F + static_cast<float>(i));
  packer.look_at(View(many), team);
  EXPECT_FALSE(packer.form().has_table()) << "257 in all";
  packer.look_at(View(first), team);
  EXPECT_FALSE(packer.form().has_table());
}

TEST(RatingPacker, CopiesOfRatingsShareWhatIsPacked) {
  ThreadTeam team(2);
  Ratings ratings = test::ratings_of(3, 4, {{0, 1, 2.0F}, {2, 0, 3.0F}, {2, 3, 2.0F}});
  EXPECT_EQ(ratings.packed(), nullptr);
  const std::int64_t before = ratings.bytes();
  const Ratings unpacked_copy = ratings;
  ratings.keep_packed(team);
  ASSERT_NE(ratings.packed(), nullptr);
  EXPECT_EQ(ratings.bytes(), before + ratings.packed()->bytes());
  EXPECT_EQ(ratings.packed()->count, 3);
  EXPECT_EQ(ratings.packed()->form.bits(), 2 + 1);
  EXPECT_EQ(Ratings(ratings).packed(), ratings.packed());
  EXPECT_EQ(unpacked_copy.packed(), nullptr);
  Ratings none;
  none.keep_packed(team);
  EXPECT_EQ(none.packed()->count, 0);
}

}  // namespace
}  // namespace mf
