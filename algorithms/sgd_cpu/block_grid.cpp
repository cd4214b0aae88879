#include "algorithms/sgd_cpu/block_grid.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "algorithms/core/rows.hpp"
#include "algorithms/sgd_cpu/shuffle.hpp"

namespace mf::sgd_cpu {
namespace {

constexpr std::int64_t kMinBlockRatings = 2048;  // a block must outlast the scheduler by far
constexpr std::int64_t kMinRunLength = 4;        // ratings over which a row of P is loaded once
constexpr std::int64_t kUserStripesPerThread = 4;

// Streams of the seed of a grid.
constexpr std::uint64_t kUserStream = 1;
constexpr std::uint64_t kItemStream = 2;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::vector<std::int32_t> random_order(std::int64_t count, std::uint64_t seed, std::uint64_t stream,
                                       ThreadTeam& team) {
  std::vector<std::int32_t> order(count);
  const auto identity = [](std::int64_t i) { return static_cast<std::int32_t>(i); };
  shuffle_into(order.data(), count, identity, seed, stream, team);
  return order;
}

std::vector<std::int64_t> degrees_of(View<const std::int64_t> offsets, ThreadTeam& team) {
  std::vector<std::int64_t> degrees(std::max<std::int64_t>(0, offsets.size() - 1));
  team.for_each(std::ssize(degrees), 65536,
                [&](std::int64_t row) { degrees[row] = offsets[row + 1] - offsets[row]; });
  return degrees;
}

std::vector<std::int64_t> item_degrees(const Ratings& train, ThreadTeam& team) {
  std::vector<std::int64_t> degrees(train.n_items());
  const auto items = train.items();
  team.for_each(train.nnz(), 65536, [&](std::int64_t k) {
    std::atomic_ref(degrees[items[k]]).fetch_add(1, std::memory_order_relaxed);
  });
  return degrees;
}

// First rows of the stripes (and the number of rows): stripe s ends when the rows so far hold the
// share (s + 1) / stripes of all ratings.
std::vector<std::int64_t> cut_evenly(const std::vector<std::int32_t>& order,
                                     const std::vector<std::int64_t>& degrees, std::int64_t nnz,
                                     std::int32_t stripes) {
  std::vector<std::int64_t> starts{0};
  std::int64_t ratings = 0;
  for (std::int64_t row = 0; row < std::ssize(order); ++row) {
    ratings += degrees[order[row]];
    while (std::ssize(starts) < stripes && ratings * stripes >= nnz * std::ssize(starts)) {
      starts.push_back(row + 1);
    }
  }
  starts.resize(stripes, std::ssize(order));
  starts.push_back(std::ssize(order));
  return starts;
}

struct ItemPlace {
  std::int32_t row;
  std::int32_t stripe;
};

std::vector<ItemPlace> place_items(const std::vector<std::int32_t>& item_of_row,
                                   const std::vector<std::int64_t>& starts) {
  std::vector<ItemPlace> places(item_of_row.size());
  for (std::int32_t stripe = 0; stripe + 1 < std::ssize(starts); ++stripe) {
    for (std::int64_t row = starts[stripe]; row < starts[stripe + 1]; ++row) {
      places[item_of_row[row]] = {static_cast<std::int32_t>(row), stripe};
    }
  }
  return places;
}

// Calls body(row of P, place of the item, value) for the ratings of rows [begin, end).
template <class Rows, class Body>
void for_ratings(const Rows& rows, const std::vector<std::int32_t>& user_of_row,
                 const std::vector<ItemPlace>& places, std::int64_t begin, std::int64_t end,
                 const Body& body) {
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int32_t user = user_of_row[row];
    for (std::int64_t k = rows.offsets[user]; k < rows.offsets[user + 1]; ++k) {
      body(static_cast<std::int32_t>(row), places[rows.items[k]], rows.values[k]);
    }
  }
}

}  // namespace

std::int64_t l2_cache_bytes() {
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? bytes : std::int64_t{1} << 20;
}

GridRequest grid_request(const Params& params, const ProblemShape& shape, int threads) {
  GridRequest request;
  request.n_users = shape.n_users;
  request.n_items = shape.n_items;
  request.nnz = shape.nnz;
  request.row_bytes = row_stride(params.integer("factors"), sizeof(float), kLineBytes) *
                      std::int64_t{sizeof(float)};
  request.l2_bytes = l2_cache_bytes();
  request.threads = threads;
  request.grid_users = params.integer("grid_users");
  request.grid_items = params.integer("grid_items");
  request.keep_user_stripe = params.choice("block_order", kBlockOrders) == BlockOrder::local;
  return request;
}

namespace {

// For one rank's users and the items that it has at a time.
GridRequest share_of(GridRequest r) {
  const std::int64_t ranks = std::exchange(r.ranks, 1);
  r.n_users = ceil_div(r.n_users, ranks);
  r.n_items = ceil_div(r.n_items, ranks);
  r.nnz = ceil_div(r.nnz, ranks * ranks);
  r.grid_users = ceil_div(r.grid_users, ranks);
  r.grid_items = ceil_div(r.grid_items, ranks);
  return r;
}

}  // namespace

GridShape plan_grid(const GridRequest& r) {
  if (r.ranks > 1) {
    const GridShape share = plan_grid(share_of(r));
    return {share.users * r.ranks, share.items * r.ranks};
  }
  const std::int64_t spare = r.threads == 1 ? 1 : std::max(2, r.threads / 4);
  std::int64_t items = r.grid_items;
  if (items == 0) {
    const std::int64_t by_cache =
        ceil_div(r.n_items * r.row_bytes, std::max<std::int64_t>(1, r.l2_bytes));
    const std::int64_t by_runs = r.nnz / std::max<std::int64_t>(1, r.n_users * kMinRunLength);
    items = std::max(r.threads + spare, std::min(by_cache, by_runs));
  }
  items = std::clamp<std::int64_t>(items, 1, std::max<std::int64_t>(1, r.n_items));
  std::int64_t users = r.grid_users;
  if (users == 0) {
    const std::int64_t by_size = r.nnz / (items * kMinBlockRatings);
    // Half a cache: the item stripes pass through the other half.
    const std::int64_t by_cache =
        r.keep_user_stripe
            ? ceil_div(2 * r.n_users * r.row_bytes, std::max<std::int64_t>(1, r.l2_bytes))
            : 0;
    const std::int64_t wanted = std::max(kUserStripesPerThread * r.threads, by_cache);
    users = std::max(r.threads + spare, std::min(wanted, by_size));
  }
  users = std::clamp<std::int64_t>(users, 1, std::max<std::int64_t>(1, r.n_users));
  return {static_cast<std::int32_t>(users), static_cast<std::int32_t>(items)};
}

BlockGrid::BlockGrid(const Ratings& train, GridShape shape, std::uint64_t seed, ThreadTeam& team)
    : shape_(shape) {
  order_rows(degrees_of(train.user_offsets(), team), item_degrees(train, team), seed, team);
  fill({train.user_offsets(), train.items(), train.values()}, {0, shape.users}, team);
}

BlockGrid::BlockGrid(const RatingSlice& slice, GridShape shape, std::uint64_t seed,
                     Communicator& ranks, ThreadTeam& team)
    : shape_(shape) {
  order_rows(degrees_of(slice.user_offsets, team), degrees_of(slice.item_offsets, team), seed,
             team);
  const std::int64_t stripes = shape.users / ranks.size();
  std::vector<std::int32_t> rank_of(user_of_row_.size());
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const std::int64_t end = user_starts_[(rank + 1) * stripes];
    for (std::int64_t row = user_starts_[rank * stripes]; row < end; ++row)
      rank_of[user_of_row_[row]] = rank;
  }
  const OwnRows rows = exchange_users(
      slice, [&](std::int32_t user) { return rank_of[user]; }, ranks);
  fill({rows.offsets, rows.others, rows.values},
       {ranks.rank() * stripes, (ranks.rank() + 1) * stripes}, team);
}

void BlockGrid::order_rows(const Degrees& users, const Degrees& items, std::uint64_t seed,
                           ThreadTeam& team) {
  const auto sum = [](const Degrees& degrees) {
    return std::accumulate(degrees.begin(), degrees.end(), std::int64_t{0});
  };
  user_of_row_ = random_order(std::ssize(users), seed, kUserStream, team);
  item_of_row_ = random_order(std::ssize(items), seed, kItemStream, team);
  user_starts_ = cut_evenly(user_of_row_, users, sum(users), shape_.users);
  item_starts_ = cut_evenly(item_of_row_, items, sum(items), shape_.items);
}

void BlockGrid::fill(const Rows& rows, RowRange kept, ThreadTeam& team) {
  const auto places = place_items(item_of_row_, item_starts_);

  std::vector<Block> all;
  all.reserve(kept.size() * shape_.items);
  for (auto user = static_cast<std::int32_t>(kept.begin); user < kept.end; ++user) {
    for (std::int32_t item = 0; item < shape_.items; ++item) {
      all.push_back({{user, item}, 0, 0, 0, 0});
    }
  }
  // A stripe of users is counted, and later filled, by one thread: no two threads share a block.
  const auto for_stripes = [&](const auto& body) {
    team.for_chunks(kept.size(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t s = begin; s < end; ++s) {
        const std::int64_t stripe = kept.begin + s;
        std::vector<std::int32_t> last_row(shape_.items, -1);
        for_ratings(rows, user_of_row_, places, user_starts_[stripe], user_starts_[stripe + 1],
                    [&](std::int32_t row, ItemPlace place, float value) {
                      const bool new_run = std::exchange(last_row[place.stripe], row) != row;
                      body(all[s * shape_.items + place.stripe], row, place.row, value, new_run);
                    });
      }
    });
  };

  for_stripes([](Block& block, std::int32_t, std::int32_t, float, bool new_run) {
    ++block.ratings;
    block.runs += new_run;
  });
  std::int64_t run = 0;
  std::int64_t rating = 0;
  for (Block& block : all) {
    block.first_run = run;
    block.first_rating = rating;
    run += std::exchange(block.runs, 0);
    rating += std::exchange(block.ratings, 0);
  }
  runs_ = AlignedVector<Run>(run);
  ratings_ = AlignedVector<RowRating>(rating);
  for_stripes([&](Block& block, std::int32_t row, std::int32_t item, float value, bool new_run) {
    if (new_run) runs_[block.first_run + block.runs++] = {row, 0};
    ++runs_[block.first_run + block.runs - 1].count;
    ratings_[block.first_rating + block.ratings++] = {item, value};
  });
  std::erase_if(all, [](const Block& block) { return block.ratings == 0; });
  blocks_ = std::move(all);
}

std::vector<GridCell> BlockGrid::cells() const {
  std::vector<GridCell> cells;
  cells.reserve(blocks_.size());
  for (const Block& block : blocks_) cells.push_back(block.cell);
  return cells;
}

}  // namespace mf::sgd_cpu
