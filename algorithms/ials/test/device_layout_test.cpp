// Shared by the kernels of ials and ials_pp with the host: layouts, limits, memory.
#include <gtest/gtest.h>

#include <set>

#include "algorithms/core/registry.hpp"
#include "algorithms/ials/blocks/device_layout.hpp"
#include "algorithms/ials/blocks/settings.hpp"
#include "algorithms/ials/post/settings.hpp"
#include "base/json/json.hpp"

namespace mf::ials {
namespace {

template <int kSide>
void expect_staging() {
  constexpr int kWidth = kSquare * kSide;
  constexpr int kWord = kSide < 4 ? kSide : 4;
  std::set<int> places;
  for (int c = 0; c < kWidth; ++c) places.insert(staged_position<kSide>(c));
  EXPECT_EQ(std::ssize(places), kWidth);
  EXPECT_EQ(*places.begin(), 0);
  EXPECT_EQ(*places.rbegin(), kWidth - 1);
  // Thread t reads its element a, which is coordinate 16 a + t, from word a / kWord.
  for (int t = 0; t < kSquare; ++t) {
    for (int a = 0; a < kSide; ++a) {
      EXPECT_EQ(staged_position<kSide>(kSquare * a + t),
                a / kWord * kSquare * kWord + t * kWord + a % kWord);
    }
  }
}

TEST(BlockLayout, StagedRowsHaveAPlaceForEveryCoordinate) {
  expect_staging<1>();
  expect_staging<2>();
  expect_staging<4>();
  expect_staging<8>();
}

TEST(BlockLayout, TilesCoverTheBlock) {
  for (int d = 1; d <= kMaxBlockSize; ++d) {
    EXPECT_GE(kSquare * tile_side(d), d);
    EXPECT_LE(kSquare * tile_side(d), d <= kSquare ? kSquare : 2 * d);
  }
}

TEST(BlockLayout, ColumnsOfTheTriangleFollowEachOther) {
  for (const int d : {1, 2, 16, 33, 128}) {
    int at = 0;
    for (int k = 0; k < d; ++k) {
      EXPECT_EQ(column_begin(k, d), at);
      at += d - k;
    }
    EXPECT_EQ(triangle_size(d), at);
  }
}

std::optional<std::string> why_not(const std::string& name, const Json& changes) {
  const AlgorithmInfo& info = find_algorithm(name);
  return info.supports(default_params(info.params, changes), {100, 100, 1000});
}

TEST(IalsInfo, SaysWhatCannotRun) {
  EXPECT_FALSE(why_not("ials", {{"factors", 1024}}));
  EXPECT_FALSE(why_not("ials", {{"reg", 0}}));
  EXPECT_FALSE(why_not("ials", {{"factors", 2048}, {"solve", "hermitian"}}));
  EXPECT_FALSE(why_not("ials", {{"factors", 2048}, {"dot", "warp"}}));
  for (const char* dot : {"shuffle", "atomic"}) {
    EXPECT_FALSE(why_not("ials", {{"factors", 1024}, {"dot", dot}}));
    EXPECT_NE(why_not("ials", {{"factors", 1025}, {"dot", dot}})->find("use dot \"warp\""),
              std::string::npos);
  }
  EXPECT_TRUE(why_not("ials", {{"solver", "cholesky"}}));
  EXPECT_TRUE(why_not("ials", {{"solve", "hermitian"}, {"solver", "cholesky"}, {"reg", 0}}));
  EXPECT_FALSE(why_not("ials", {{"solve", "hermitian"}, {"solver", "cholesky"}}));
  EXPECT_TRUE(why_not("ials_pp", {{"reg", 0}}));
  EXPECT_FALSE(why_not("ials_pp", {{"factors", 2048}}));
}

TEST(IalsInfo, HermitianIsAlsWithoutItsLambda) {
  const Params params = default_params(find_algorithm("ials").params, Json{{"factors", 96},
                                                                           {"reg", 3},
                                                                           {"cg_steps", 5},
                                                                           {"solve", "hermitian"},
                                                                           {"batch_rows", 11},
                                                                           {"split_rows", 12}});
  const als::AlsSettings settings = als_settings_of(read_ials_settings(params));
  EXPECT_EQ(settings.common.factors, 96);
  EXPECT_EQ(settings.common.reg, 0);
  EXPECT_EQ(settings.common.center, als::CenterKind::none);
  EXPECT_EQ(settings.common.cg.steps, 5);
  EXPECT_EQ(settings.common.cg.tolerance, 0);
  EXPECT_EQ(settings.a_storage, als::AStorage::fp32);
  EXPECT_EQ(settings.batch_rows, 11);
  EXPECT_EQ(settings.split_rows, 12);
}

TEST(IalsInfo, TheLastBlockMayBeShort) {
  const IalsPpSettings settings = read_ials_pp_settings(
      default_params(find_algorithm("ials_pp").params, Json{{"factors", 100}, {"block_size", 33}}));
  EXPECT_EQ(settings.blocks(), 4);
}

}  // namespace
}  // namespace mf::ials
