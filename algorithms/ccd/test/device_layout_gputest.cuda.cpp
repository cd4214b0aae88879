// What ccd++ makes on the device against the host's layout and pieces.
#include "algorithms/ccd/gpu/device_layout.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "algorithms/ccd/gpu/kernels.hpp"
#include "algorithms/ccd/settings.hpp"
#include "algorithms/ccd/test/pieces_reference.hpp"
#include "algorithms/ccd/test/reference.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/back.hpp"
#include "testing/cuda/testing.hpp"

namespace mf::ccd {
namespace {

bool same(const Task& a, const Task& b) {
  return a.begin == b.begin && a.slot == b.slot && a.row == b.row && a.units == b.units;
}

template <class Index>
void expect_filled(const DeviceLayout& made, const cuda::RatingsOfRows& rows, const Layout& layout,
                   View<const float> values, const cuda::Stream& stream) {
  cuda::DeviceBuffer<Index> indices(made.size());
  cuda::DeviceBuffer<float> residual(made.size());
  fill_layout(made, rows, indices.data(), residual.data(), stream.get());
  const auto at = back(indices.data(), made.size(), stream);
  const auto r = back(residual.data(), made.size(), stream);
  std::vector<Index> expected_at(made.size());
  std::vector<float> expected_r(made.size());
  layout.fill<Index>(0, made.size(), expected_at.data(), static_cast<Index>(layout.tile_width),
                     [&](std::int64_t, std::int64_t tile, std::int64_t source) {
                       return layout.from.others[source] - tile * layout.tile_width;
                     });
  layout.fill<float>(
      0, made.size(), expected_r.data(), 0.0F,
      [&](std::int64_t, std::int64_t, std::int64_t source) { return values[source]; });
  EXPECT_TRUE(at == expected_at);
  EXPECT_TRUE(r == expected_r);
}

void expect_side(const cuda::RatingsOfRows& rows, const SideRows& host, View<const float> values,
                 const LayoutRule& rule, const cuda::Stream& stream) {
  ThreadTeam team(2);
  Layout layout = make_layout(host, rule, team);
  test::order_tasks(layout);
  const DeviceLayout made = make_device_layout(rows, host.n_others, rule, stream.get());
  EXPECT_EQ(made.tiles, layout.tiles);
  EXPECT_EQ(made.tile_width, layout.tile_width);
  ASSERT_EQ(made.size(), layout.size());
  const auto segments = back(made.segments.data(), std::ssize(layout.segments), stream);
  EXPECT_TRUE(std::equal(segments.begin(), segments.end(), layout.segments.begin()));
  ASSERT_EQ(made.slots.size(), layout.slots.size());
  const auto slots = back(made.slots.data(), std::ssize(layout.slots), stream);
  EXPECT_TRUE(std::equal(slots.begin(), slots.end(), layout.slots.begin()));
  ASSERT_EQ(made.tasks.size(), layout.tasks.size());
  const auto tasks = back(made.tasks.data(), std::ssize(layout.tasks), stream);
  for (std::size_t t = 0; t < tasks.size(); ++t) ASSERT_TRUE(same(tasks[t], layout.tasks[t])) << t;
  for (const std::int64_t blocks : {1, 2, 132, 3000}) {
    EXPECT_TRUE(
        test::same(cut_pieces(made, blocks, stream.get()), test::walk_pieces(layout, blocks)))
        << blocks;
  }
  expect_filled<std::int32_t>(made, rows, layout, values, stream);
  if (layout.narrow()) expect_filled<std::uint16_t>(made, rows, layout, values, stream);
}

// User 3 has rated everything.
Ratings with_a_giant(std::int32_t users, std::int32_t items) {
  std::vector<Rating> list;
  Rng rng(8);
  for (std::int32_t u = 0; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) {
      if (u == 3 || (u % 4 != 0 && rng.below(50) == 0)) {
        list.push_back({u, i, static_cast<float>(rng.uniform())});
      }
    }
  }
  return test::ratings_of(users, items, list);
}

// Even, with a row of everything, with empty rows, empty.
std::vector<Ratings> some_matrices() {
  std::vector<Ratings> all;
  all.push_back(test::planted(700, 300, 0.3, 1));
  all.push_back(with_a_giant(40, 5000));
  all.push_back(test::ratings_of(4, 5, {{1, 4, 2.0F}, {3, 0, 1.0F}}));
  all.push_back(test::ratings_of(3, 2, {}));
  return all;
}

TEST(CcdDeviceLayout, IsTheHosts) {
  MF_REQUIRE_DEVICE();
  ThreadTeam team(2);
  cuda::Stream stream;
  std::vector<Ratings> all = some_matrices();
  all.push_back(test::planted(1, 50, 0.9, 2));
  all.push_back(test::planted(50, 1, 0.9, 2));
  all.push_back(with_a_giant(8, 70'000));
  for (const Ratings& train : all) {
    const Csc columns = make_csc(train, 2);
    cuda::DeviceRatings ratings(train, team, stream.get());
    for (const LayoutRule rule : {LayoutRule{65535, 4, 256}, LayoutRule{100, 4, 256},
                                  LayoutRule{150, 4, 9}, LayoutRule{150, 1, 3}}) {
      SCOPED_TRACE(testing::Message()
                   << train.n_users() << " users, " << train.n_items() << " items, tiles of "
                   << rule.widest << ", tasks of " << rule.task_units);
      expect_side(ratings.rows(), {train.user_offsets(), train.items(), train.n_items()},
                  train.values(), rule, stream);
      expect_side(ratings.columns(stream.get()),
                  {columns.item_offsets, columns.users, train.n_users()},
                  View<const float>(columns.values), rule, stream);
    }
  }
}

// A side with its own residual, for passes.
template <class Index>
struct PassSide {
  PassSide(const cuda::RatingsOfRows& rows, std::int64_t n_others, std::int64_t widest, bool shared,
           const cuda::Stream& stream)
      : layout(make_device_layout(rows, n_others, {widest, kQuad, 256}, stream.get())),
        indices(layout.size()),
        residual(layout.size()),
        sums(static_cast<std::int64_t>(layout.tasks.size())) {
    const Pieces cut = cut_pieces(layout, pass_blocks(shared), stream.get());
    pieces = cuda::upload(View<const Piece>(cut.pieces), stream.get());
    of_block = cuda::upload(View<const std::int32_t>(cut.of_block), stream.get());
    fill_layout(layout, rows, indices.data(), residual.data(), stream.get());
    view = {layout.tasks.data(), pieces.data(),
            of_block.data(),     static_cast<unsigned>(cut.of_block.size() - 1),
            indices.data(),      residual.data(),
            sums.data(),         n_others,
            layout.tile_width,   shared};
  }

  DeviceLayout layout;
  cuda::DeviceBuffer<Index> indices;
  cuda::DeviceBuffer<float> residual;
  cuda::DeviceBuffer<float2> sums;
  cuda::DeviceBuffer<Piece> pieces;
  cuda::DeviceBuffer<std::int32_t> of_block;
  DeviceSideView view;
};

// Rows of `stride` numbers, zero beyond the factors; and the same as vectors of rows + 1 numbers.
struct RandomFactors {
  RandomFactors(std::int64_t rows, int factors, std::uint64_t seed, const cuda::Stream& stream)
      : stride((factors + 3) / 4 * 4) {
    Rng rng(seed);
    std::vector<float> packed(rows * stride), columns((rows + 1) * factors);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (int k = 0; k < factors; ++k) {
        const auto value = static_cast<float>(rng.uniform() - 0.3);
        packed[row * stride + k] = value;
        columns[k * (rows + 1) + row] = value;
      }
    }
    by_row = cuda::upload(View<const float>(packed), stream.get());
    by_factor = cuda::upload(View<const float>(columns), stream.get());
  }
  std::int64_t stride;
  cuda::DeviceBuffer<float> by_row, by_factor;
};

template <class Index>
void expect_subtracted(const cuda::RatingsOfRows& rows, std::int64_t n_others, std::int64_t widest,
                       int factors, const cuda::Stream& stream) {
  constexpr bool kShared = sizeof(Index) == 2;
  PassSide<Index> one(rows, n_others, widest, kShared, stream);
  PassSide<Index> turns(rows, n_others, widest, kShared, stream);
  const RandomFactors own(rows.rows, factors, 1, stream), other(n_others, factors, 2, stream);
  const auto before = back(one.residual.data(), one.layout.size(), stream);
  launch_subtract(one.view, {own.by_row.data(), other.by_row.data(), own.stride}, stream.get());
  for (int k = 0; k < factors; ++k) {
    PassVectors vectors = {};
    vectors.old = other.by_factor.data() + k * (n_others + 1);
    vectors.own = own.by_factor.data() + k * (rows.rows + 1);
    vectors.sign = -1;
    launch_change(turns.view, vectors, stream.get());
  }
  const auto at_once = back(one.residual.data(), one.layout.size(), stream);
  EXPECT_EQ(at_once, back(turns.residual.data(), turns.layout.size(), stream));
  EXPECT_EQ(at_once != before, rows.nnz > 0);
}

TEST(CcdPasses, SubtractIsAChangeByEachFactorInTurn) {
  MF_REQUIRE_DEVICE();
  ThreadTeam team(2);
  cuda::Stream stream;
  for (const Ratings& train : some_matrices()) {
    cuda::DeviceRatings ratings(train, team, stream.get());
    for (const int factors : {1, 4, 7, 40}) {
      SCOPED_TRACE(testing::Message() << train.n_users() << " users, " << train.n_items()
                                      << " items, " << factors << " factors");
      for (const std::int64_t widest : {65, 10'000}) {
        expect_subtracted<std::uint16_t>(ratings.rows(), train.n_items(), widest, factors, stream);
        expect_subtracted<std::uint16_t>(ratings.columns(stream.get()), train.n_users(), widest,
                                         factors, stream);
      }
      expect_subtracted<std::int32_t>(ratings.rows(), train.n_items(), 10'000, factors, stream);
    }
  }
}

TEST(CcdDeviceLayout, RowsAreShrunkAsTheHostDoes) {
  MF_REQUIRE_DEVICE();
  ThreadTeam team(1);
  cuda::Stream stream;
  const Ratings train = test::planted(300, 70, 0.3, 3);
  const cuda::DeviceRatings ratings(train, team, stream.get());
  for (const char* scale : {"plain", "rows"}) {
    const Settings settings =
        read_settings(test::params_of("ccd++", {{"reg", 0.037}, {"reg_scale", scale}}));
    cuda::DeviceBuffer<float> shrink(train.n_users());
    fill_shrink(ratings.rows().offsets, train.n_users(), settings.reg,
                settings.reg_scale == RegScale::rows, shrink.data(), stream.get());
    const auto made = back(shrink.data(), train.n_users(), stream);
    for (std::int64_t u = 0; u < train.n_users(); ++u) {
      EXPECT_EQ(made[u], settings.shrink(train.user_offsets()[u + 1] - train.user_offsets()[u]));
    }
  }
}

}  // namespace
}  // namespace mf::ccd
