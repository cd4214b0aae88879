// The device's layout of ccd++ against the host's, and a walk over its quads.
#include "algorithms/ccd/gpu/device_layout.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "algorithms/ccd/gpu/kernels.hpp"
#include "algorithms/ccd/layout.hpp"
#include "algorithms/ccd/settings.hpp"
#include "algorithms/ccd/test/reference.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/back.hpp"
#include "testing/cuda/testing.hpp"

namespace mf::ccd {
namespace {

// The stream's tasks by a walk over all quads.
struct WalkedTasks {
  std::vector<std::uint32_t> heads, before, slots;
  std::vector<StreamTask> tasks;

  WalkedTasks(const Layout& layout, const Pieces& cut, std::int64_t warps)
      : heads(layout.segments.back() / kWordQuads + 2), slots(layout.rows() + 1) {
    std::set<std::int64_t> begins;  // of ranges
    for (const Piece& piece : cut.pieces) {
      for (std::int64_t warp = 0; warp < warps; ++warp) {
        begins.insert(part_of(piece.quads, warp, warps).begin);
      }
    }
    std::int64_t segment = 0;
    for (std::int64_t quad = 0; quad < layout.segments.back(); ++quad) {
      while (layout.segments[segment + 1] <= quad) ++segment;
      if (quad % kWordQuads == 0) before.push_back(static_cast<std::uint32_t>(tasks.size()));
      if (layout.segments[segment] != quad && begins.count(quad) == 0) continue;
      const auto row = static_cast<std::int32_t>(segment % layout.rows());
      heads[quad / kWordQuads] |= 1U << (quad % kWordQuads);
      tasks.push_back({row, slots[row + 1]++});
    }
    before.push_back(static_cast<std::uint32_t>(tasks.size()));
    heads.resize(before.size());
    for (std::int64_t row = 0; row < layout.rows(); ++row) slots[row + 1] += slots[row];
    for (StreamTask& task : tasks) task.slot += slots[task.row];
  }
};

void expect_tasks(const DeviceLayout& made, const Layout& layout, std::int64_t blocks,
                  std::int64_t warps, const cuda::Stream& stream) {
  const Pieces cut = cut_pieces(View<const std::int64_t>(made.tile_begins), blocks);
  const auto pieces = cuda::upload(View<const Piece>(cut.pieces), stream.get());
  const StreamTasks tasks = make_stream_tasks(made, pieces, warps, stream.get());
  const WalkedTasks walked(layout, cut, warps);
  EXPECT_TRUE(back(tasks.heads, stream) == walked.heads);
  EXPECT_TRUE(back(tasks.before, stream) == walked.before);
  EXPECT_TRUE(back(tasks.slots, stream) == walked.slots);
  EXPECT_TRUE(back(tasks.tasks, stream) == walked.tasks);
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
                 std::int64_t widest, const cuda::Stream& stream) {
  ThreadTeam team(2);
  const Layout layout = make_layout(host, {widest, kQuad, 256}, team);
  const DeviceLayout made = make_device_layout(rows, host.n_others, widest, stream.get());
  EXPECT_EQ(made.tiles, layout.tiles);
  EXPECT_EQ(made.tile_width, layout.tile_width);
  ASSERT_EQ(made.size(), layout.size());
  const auto segments = back(made.segments.data(), std::ssize(layout.segments), stream);
  EXPECT_TRUE(std::equal(segments.begin(), segments.end(), layout.segments.begin()));
  for (const std::int64_t blocks : {1, 2, 132, 3000}) {
    for (const std::int64_t warps : {1, 8, 32}) {
      SCOPED_TRACE(testing::Message() << blocks << " blocks of " << warps << " warps");
      expect_tasks(made, layout, blocks, warps, stream);
    }
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
  ThreadTeam team(2);
  cuda::Stream stream;
  std::vector<Ratings> all = some_matrices();
  all.push_back(test::planted(1, 50, 0.9, 2));
  all.push_back(test::planted(50, 1, 0.9, 2));
  all.push_back(with_a_giant(8, 70'000));
  for (const Ratings& train : all) {
    const Csc columns = make_csc(train, 2);
    cuda::DeviceRatings ratings(train, team, stream.get());
    for (const std::int64_t widest : {65535, 100, 150}) {
      SCOPED_TRACE(testing::Message() << train.n_users() << " users, " << train.n_items()
                                      << " items, tiles of " << widest);
      expect_side(ratings.rows(), {train.user_offsets(), train.items(), train.n_items()},
                  train.values(), widest, stream);
      expect_side(ratings.columns(stream.get()),
                  {columns.item_offsets, columns.users, train.n_users()},
                  View<const float>(columns.values), widest, stream);
    }
  }
}

// A side with its own residual, for passes.
template <class Index>
struct PassSide {
  PassSide(const cuda::RatingsOfRows& rows, std::int64_t n_others, std::int64_t widest, bool shared,
           const cuda::Stream& stream)
      : layout(make_device_layout(rows, n_others, widest, stream.get())),
        indices(layout.size()),
        residual(layout.size()) {
    const PassGrid grid = pass_grid(shared);
    const Pieces cut = cut_pieces(View<const std::int64_t>(layout.tile_begins), grid.blocks);
    pieces = cuda::upload(View<const Piece>(cut.pieces), stream.get());
    of_block = cuda::upload(View<const std::int32_t>(cut.of_block), stream.get());
    tasks = make_stream_tasks(layout, pieces, grid.warps, stream.get());
    fill_layout(layout, rows, indices.data(), residual.data(), stream.get());
    view = {tasks.heads.data(), tasks.before.data(), tasks.tasks.data(),
            pieces.data(),      of_block.data(),     static_cast<unsigned>(grid.blocks),
            indices.data(),     residual.data(),     nullptr,
            n_others,           layout.tile_width,   shared};
  }

  DeviceLayout layout;
  StreamTasks tasks;
  cuda::DeviceBuffer<Index> indices;
  cuda::DeviceBuffer<float> residual;
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
