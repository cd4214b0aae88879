#include "algorithms/als/share.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace mf::als {
namespace {

constexpr std::int64_t kRatingsPerChunk = 1 << 16;

// The ratings of a thread: consecutive ones.
RowRange ratings_of(const Ratings& train, int thread, const ThreadTeam& team) {
  return {train.nnz() * thread / team.size(), train.nnz() * (thread + 1) / team.size()};
}

using Counts = std::vector<std::vector<std::int64_t>>;  // [thread][item of the range]

Counts count_columns(const Ratings& train, RowRange items, ThreadTeam& team) {
  Counts counts(team.size());
  team.run([&](int thread) {
    auto& own = counts[thread];
    own.assign(items.size(), 0);
    const RowRange ratings = ratings_of(train, thread, team);
    for (std::int64_t k = ratings.begin; k < ratings.end; ++k) {
      const std::int64_t item = train.items()[k];
      if (item >= items.begin && item < items.end) ++own[item - items.begin];
    }
  });
  return counts;
}

// Offsets of all columns, and of each thread's share of them into `counts`.
AlignedVector<std::int64_t> begin_columns(const Ratings& train, RowRange items, Counts& counts) {
  AlignedVector<std::int64_t> offsets(std::int64_t{train.n_items()} + 1, 0);
  std::int64_t at = 0;
  for (std::int64_t item = items.begin; item < items.end; ++item) {
    for (auto& of_thread : counts) at += std::exchange(of_thread[item - items.begin], at);
    offsets[item + 1] = at;
  }
  for (std::int64_t item = items.end; item < train.n_items(); ++item) offsets[item + 1] = at;
  return offsets;
}

}  // namespace

AlignedVector<std::int64_t> column_offsets(const Ratings& train, ThreadTeam& team) {
  const RowRange all = {0, train.n_items()};
  Counts counts = count_columns(train, all, team);
  return begin_columns(train, all, counts);
}

OwnedSide copy_columns(const Ratings& train, RowRange items, ThreadTeam& team) {
  OwnedSide side;
  Counts next = count_columns(train, items, team);
  side.offsets = begin_columns(train, items, next);
  side.others.resize(side.offsets.back());
  side.values.resize(side.offsets.back());
  team.run([&](int thread) {
    const RowRange ratings = ratings_of(train, thread, team);
    for (std::int64_t k = ratings.begin; k < ratings.end; ++k) {
      const Rating rating = train[k];
      if (rating.item < items.begin || rating.item >= items.end) continue;
      const std::int64_t at = next[thread][rating.item - items.begin]++;
      side.others[at] = rating.user;
      side.values[at] = rating.value;
    }
  });
  return side;
}

OwnedSide copy_rows(const Ratings& train, RowRange users, ThreadTeam& team) {
  const View<const std::int64_t> offsets = train.user_offsets();
  const std::int64_t first = offsets[users.begin];
  OwnedSide side;
  side.offsets.resize(offsets.size());
  for (std::int64_t row = 0; row < offsets.size(); ++row) {
    side.offsets[row] = offsets[std::clamp(row, users.begin, users.end)] - first;
  }
  const std::int64_t count = offsets[users.end] - first;
  side.others.resize(count);
  side.values.resize(count);
  team.for_chunks(count, kRatingsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    std::copy_n(train.items().data() + first + begin, end - begin, side.others.data() + begin);
    std::copy_n(train.values().data() + first + begin, end - begin, side.values.data() + begin);
  });
  return side;
}

}  // namespace mf::als
