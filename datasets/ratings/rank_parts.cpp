#include "datasets/ratings/rank_parts.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "datasets/ratings/rank_blocks.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
namespace {

struct Columns3 {
  AlignedVector<std::int32_t> users, items;
  AlignedVector<float> values;
};

// Calls move(column, to) for each of the three.
template <class Move>
Columns3 for_columns(const Ratings& own, const Move& move) {
  Columns3 columns;
  columns.users = move(own.users());
  columns.items = move(own.items());
  columns.values = move(own.values());
  return columns;
}

// Over the users and items of `own`, with ids of its own.
Ratings ratings_from(Columns3 columns, const Ratings& own, ThreadTeam& team) {
  struct Owner {
    SharedIds ids;
    Columns3 columns;
    AlignedVector<std::int64_t> offsets;
  };
  auto owner = std::make_shared<Owner>();
  owner->ids = copy_ids(own, team);
  owner->columns = std::move(columns);
  owner->offsets = key_offsets(owner->columns.users, own.n_users(), team);
  Ratings::Views views;
  views.users = owner->columns.users;
  views.items = owner->columns.items;
  views.values = owner->columns.values;
  views.user_offsets = owner->offsets;
  views.user_ids = owner->ids.users;
  views.item_ids = owner->ids.items;
  views.user_names = owner->ids.user_names;
  views.item_names = owner->ids.item_names;
  return {views, std::move(owner)};
}

}  // namespace

Ratings ratings_of_blocks(const Ratings& own, const PartOffsets& parts, std::int64_t block,
                          Communicator& ranks, ThreadTeam& team) {
  const BlockRange blocks = blocks_of(parts, ranks.rank(), block);
  const std::int64_t skipped = std::min(blocks.begin - parts[ranks.rank()], own.nnz());
  return ratings_from(for_columns(own,
                                  [&](const auto& column) {
                                    using T = std::remove_cvref_t<decltype(column[0])>;
                                    const auto rest = rest_of_blocks(column, parts, block, ranks);
                                    AlignedVector<T> all(column.begin() + skipped, column.end());
                                    all.insert(all.end(), rest.begin(), rest.end());
                                    return all;
                                  }),
                      own, team);
}

Ratings ratings_on_rank_0(const Ratings& own, const PartOffsets& parts, Communicator& ranks,
                          ThreadTeam& team) {
  return ratings_from(
      for_columns(own,
                  [&](const auto& column) {
                    using T = std::remove_cvref_t<decltype(column[0])>;
                    const auto bytes = [&](int rank) {
                      return (parts[rank + 1] - parts[rank]) * static_cast<std::int64_t>(sizeof(T));
                    };
                    AlignedVector<T> all;
                    std::vector<Outgoing> sends;
                    std::vector<Incoming> receives;
                    if (ranks.leads()) {
                      all.resize(parts.back());
                      std::copy(column.begin(), column.end(), all.begin());
                      for (int other = 1; other < ranks.size(); ++other) {
                        if (bytes(other) > 0)
                          receives.push_back({other, all.data() + parts[other], bytes(other)});
                      }
                    } else if (!column.empty()) {
                      sends.push_back({0, column.data(), bytes(ranks.rank())});
                    }
                    ranks.exchange(sends, receives);
                    return all;
                  }),
      own, team);
}

}  // namespace mf
