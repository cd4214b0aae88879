// Orders and the wavefront's grid, on the host.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "algorithms/core/registry.hpp"
#include "algorithms/cumf_sgd/order.hpp"
#include "algorithms/cumf_sgd/settings.hpp"
#include "algorithms/cumf_sgd/test/grid_reference.hpp"
#include "base/json/json.hpp"
#include "datasets/synthetic/synthetic.hpp"

namespace mf::cumf_sgd {
namespace {

using test::make_grid;
using test::WavefrontGrid;

TEST(Draw, IsUniformAndNew) {
  std::array<int, 7> hits{};
  for (std::int64_t slot = 0; slot < 70000; ++slot) ++hits[draw(1, 2, slot, 7)];
  double chi2 = 0;
  for (const int hit : hits) chi2 += std::pow(hit - 10000, 2) / 10000;
  EXPECT_LT(chi2, 22.5) << "1 in 1000 for 6 degrees of freedom";
  EXPECT_NE(draw(1, 2, 3, 1 << 30), draw(1, 3, 3, 1 << 30));
  EXPECT_NE(draw(1, 2, 3, 1 << 30), draw(2, 2, 3, 1 << 30));
}

TEST(WavefrontShape, FollowsTheDataAndTheDevice) {
  const AlgorithmInfo& info = find_algorithm("wavefront");
  const auto shape_of = [&](const Json& changes, const ProblemShape& shape, std::int64_t resident) {
    const WavefrontShape grid =
        wavefront_shape(read_wavefront(default_params(info.params, changes)), shape, resident);
    return std::pair(grid.bands, grid.columns);
  };
  const ProblemShape netflix = {480'189, 17'770, 99'072'112};
  using Grid = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(shape_of(Json::object(), netflix, 2112), Grid(879, 1758));  // 64 ratings a block
  EXPECT_EQ(shape_of(Json::object(), netflix, 100), Grid(100, 200));
  EXPECT_EQ(shape_of({{"workers", 300}}, netflix, 100), Grid(300, 600));
  EXPECT_EQ(shape_of({{"column_blocks", 1 << 20}}, netflix, 2112), Grid(879, 17'770));
  EXPECT_EQ(shape_of(Json::object(), {0, 0, 0}, 100), Grid(1, 1));
}

TEST(WavefrontShape, ItsBlocksAreLimited) {
  const AlgorithmInfo& info = find_algorithm("wavefront");
  const ProblemShape shape = {100'000, 200'000, 10'000'000};
  const auto params = [&](const Json& changes) { return default_params(info.params, changes); };
  const Params many = params({{"workers", 128}, {"column_blocks", 200'000}});
  EXPECT_FALSE(info.supports(many, shape).has_value());
  EXPECT_TRUE(info.supports(params({{"workers", 1024}, {"column_blocks", 200'000}}), shape));
  const ProblemShape wide = {1'000'000, 1'000'000, 1'000'000'000};  // 2,795 bands
  EXPECT_TRUE(info.supports(params({{"column_blocks", 1 << 20}}), wide).has_value());
}

TEST(Grid, BandsHaveAboutEqualNumbersOfRatings) {
  const Dataset data = make_look_alike("ml-100k", 1.0, 1, 2);
  const WavefrontGrid grid = make_grid(data.ratings, 20, 40, 1);
  const double even = static_cast<double>(data.ratings.nnz()) / 20;
  for (std::int64_t band = 0; band < 20; ++band) {
    const auto count = static_cast<double>(grid.offsets[(band + 1) * 40] - grid.offsets[band * 40]);
    EXPECT_NEAR(count, even, 800) << "a user has at most about 700 ratings";
  }
}

TEST(Settings, NegativeRegularizersTakeTheCommonOne) {
  const Settings settings = read_settings(
      default_params(find_algorithm("batch_hogwild").params, {{"reg", 0.5}, {"reg_q", 0.25}}));
  EXPECT_EQ(settings.reg.p, 0.5);
  EXPECT_EQ(settings.reg.q, 0.25);
  EXPECT_EQ(settings.reg.user_bias, 0) << "the plain model has none";
}

}  // namespace
}  // namespace mf::cumf_sgd
