#include "datasets/ratings/rating_slice.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
namespace {

template <class T>
std::int64_t bytes_of(std::int64_t count) {
  return count * static_cast<std::int64_t>(sizeof(T));
}

template <class T>
Outgoing outgoing(int to, View<const T> what) {
  return {to, what.data(), bytes_of<T>(what.size())};
}

template <class T>
Incoming incoming(int from, AlignedVector<T>& where) {
  return {from, where.data(), bytes_of<T>(std::ssize(where))};
}

struct SliceRange {
  std::int64_t begin, end;
  std::int64_t size() const { return std::max<std::int64_t>(0, end - begin); }
};

SliceRange common(const PartOffsets& a, int rank_a, const PartOffsets& b, int rank_b) {
  return {std::max(a[rank_a], b[rank_b]), std::min(a[rank_a + 1], b[rank_b + 1])};
}

// The pieces of one array that each rank sends to every other, never empty.
template <class T>
void exchange_arrays(Communicator& ranks, const std::vector<View<const T>>& to,
                     std::vector<AlignedVector<T>>& from) {
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  for (int other = 0; other < ranks.size(); ++other) {
    if (other == ranks.rank()) continue;
    if (!to[other].empty()) sends.push_back(outgoing(other, to[other]));
    if (!from[other].empty()) receives.push_back(incoming(other, from[other]));
  }
  ranks.exchange(sends, receives);
}

// Users by the rank that gets them, of the own rows: their ratings one after another.
struct Packed {
  std::vector<AlignedVector<std::int32_t>> items;
  std::vector<AlignedVector<float>> values;
};

Packed pack_users(const RatingSlice& slice, int rank,
                  const std::function<int(std::int32_t)>& rank_of, int ranks) {
  const std::int64_t base = slice.user_offsets[slice.users[rank]];
  Packed packed;
  packed.items.resize(ranks);
  packed.values.resize(ranks);
  std::vector<std::int64_t> counts(ranks, 0);
  const auto for_users = [&](const auto& body) {
    for (auto user = static_cast<std::int32_t>(slice.users[rank]); user < slice.users[rank + 1];
         ++user) {
      body(rank_of(user), slice.user_offsets[user] - base, slice.user_offsets[user + 1] - base);
    }
  };
  for_users([&](int to, std::int64_t begin, std::int64_t end) { counts[to] += end - begin; });
  for (int to = 0; to < ranks; ++to) {
    packed.items[to].resize(counts[to]);
    packed.values[to].resize(counts[to]);
  }
  std::fill(counts.begin(), counts.end(), 0);
  for_users([&](int to, std::int64_t begin, std::int64_t end) {
    std::copy_n(slice.own_items.data() + begin, end - begin, packed.items[to].data() + counts[to]);
    std::copy_n(slice.own_values.data() + begin, end - begin,
                packed.values[to].data() + counts[to]);
    counts[to] += end - begin;
  });
  return packed;
}

// Ratings of the own columns from each rank: the columns that it has sorted, cut to those.
struct ColumnPieces {
  std::vector<AlignedVector<std::int64_t>> offsets;  // from 0
  std::vector<AlignedVector<std::int32_t>> users;
  std::vector<AlignedVector<float>> values;
};

AlignedVector<std::int64_t> from_zero(View<const std::int64_t> offsets) {
  AlignedVector<std::int64_t> moved(offsets.begin(), offsets.end());
  for (std::int64_t& offset : moved) offset -= offsets.front();
  return moved;
}

ColumnPieces exchange_pieces(const Csc& sorted, const PartOffsets& wanted, Communicator& ranks) {
  const int size = ranks.size();
  const int rank = ranks.rank();
  const std::int64_t own_columns = wanted[rank + 1] - wanted[rank];
  std::vector<AlignedVector<std::int64_t>> moved(size);
  std::vector<View<const std::int64_t>> offsets_to(size);
  std::vector<View<const std::int32_t>> users_to(size);
  std::vector<View<const float>> values_to(size);
  ColumnPieces pieces;
  pieces.offsets.resize(size);
  pieces.users.resize(size);
  pieces.values.resize(size);
  for (int other = 0; other < size; ++other) {
    const View<const std::int64_t> theirs =
        View<const std::int64_t>(sorted.item_offsets).part(wanted[other], wanted[other + 1] + 1);
    moved[other] = from_zero(theirs);
    if (theirs.size() > 1) offsets_to[other] = View<const std::int64_t>(moved[other]);
    users_to[other] = View<const std::int32_t>(sorted.users).part(theirs.front(), theirs.back());
    values_to[other] = View<const float>(sorted.values).part(theirs.front(), theirs.back());
    if (own_columns > 0 && other != rank) pieces.offsets[other].resize(own_columns + 1);
  }
  exchange_arrays(ranks, offsets_to, pieces.offsets);
  for (int other = 0; other < size; ++other) {
    if (other == rank || own_columns == 0) continue;
    pieces.users[other].resize(pieces.offsets[other].back());
    pieces.values[other].resize(pieces.offsets[other].back());
  }
  exchange_arrays(ranks, users_to, pieces.users);
  exchange_arrays(ranks, values_to, pieces.values);
  pieces.offsets[rank] = std::move(moved[rank]);
  pieces.users[rank].assign(users_to[rank].begin(), users_to[rank].end());
  pieces.values[rank].assign(values_to[rank].begin(), values_to[rank].end());
  return pieces;
}

}  // namespace

PartOffsets RatingSlice::rating_parts() const {
  PartOffsets parts;
  for (const std::int64_t user : users) parts.push_back(user_offsets[user]);
  return parts;
}

void check_same_data(const std::string& name, const Dataset& data, Communicator& ranks) {
  const Ratings& all = data.ratings;
  const auto texts = ranks.all_texts(fmt::format("{} with {} ratings of {} users and {} items",
                                                 hash64_text(data.info.content_hash), all.nnz(),
                                                 all.n_users(), all.n_items()));
  for (int other = 1; other < ranks.size(); ++other) {
    if (texts[other] == texts[0]) continue;
    fail(ErrorKind::data,
         "{}: rank {} has other ratings than rank 0: found {}, expected {}; have all read the same "
         "files",
         name, other, texts[other], texts[0]);
  }
}

PartOffsets cut_users_evenly(View<const std::int64_t> user_offsets, int parts) {
  PartOffsets cuts = {0};
  if (user_offsets.empty()) return PartOffsets(parts + 1, 0);
  const std::int64_t all = user_offsets.back();
  for (int part = 1; part < parts; ++part) {
    const std::int64_t goal = all / parts * part + all % parts * part / parts;
    const auto at = std::lower_bound(user_offsets.begin(), user_offsets.end() - 1, goal);
    cuts.push_back(std::max(cuts.back(), at - user_offsets.begin()));
  }
  cuts.push_back(user_offsets.size() - 1);
  return cuts;
}

RatingSlice slice_of(const Ratings& whole, const Communicator& ranks, ThreadTeam& team) {
  RatingSlice slice;
  slice.users = cut_users_evenly(whole.user_offsets(), ranks.size());
  slice.user_offsets.assign(whole.user_offsets().begin(), whole.user_offsets().end());
  if (slice.user_offsets.empty()) slice.user_offsets.assign(1, 0);
  slice.item_offsets = key_offsets(whole.items(), whole.n_items(), team);
  slice.mean = mean_rating(whole, team);
  const std::int64_t begin = slice.user_offsets[slice.users[ranks.rank()]];
  const std::int64_t end = slice.user_offsets[slice.users[ranks.rank() + 1]];
  slice.own_items = whole.items().part(begin, end);
  slice.own_values = whole.values().part(begin, end);
  slice.among = whole;
  slice.first_own = begin;
  return slice;
}

std::int64_t RowPieces::count() const {
  return std::accumulate(
      pieces.begin(), pieces.end(), std::int64_t{0},
      [](std::int64_t sum, const Piece& piece) { return sum + piece.items.size(); });
}

RowPieces exchange_rows(const RatingSlice& slice, const PartOffsets& wanted, Communicator& ranks) {
  const int size = ranks.size();
  const int rank = ranks.rank();
  const auto ratings_in = [&](SliceRange rows) {
    return rows.size() == 0
               ? SliceRange{0, 0}
               : SliceRange{slice.user_offsets[rows.begin], slice.user_offsets[rows.end]};
  };
  const std::int64_t base = slice.user_offsets[slice.users[rank]];
  const auto own_part = [&](const auto& column, SliceRange ratings) {
    return column.part(std::max<std::int64_t>(0, ratings.begin - base),
                       std::max<std::int64_t>(0, ratings.begin - base) + ratings.size());
  };
  RowPieces rows;
  rows.received_items.resize(size);
  rows.received_values.resize(size);
  std::vector<View<const std::int32_t>> items_to(size);
  std::vector<View<const float>> values_to(size);
  for (int other = 0; other < size; ++other) {
    if (other == rank) continue;
    const SliceRange out = ratings_in(common(slice.users, rank, wanted, other));
    items_to[other] = own_part(slice.own_items, out);
    values_to[other] = own_part(slice.own_values, out);
    const SliceRange in = ratings_in(common(slice.users, other, wanted, rank));
    rows.received_items[other].resize(in.size());
    rows.received_values[other].resize(in.size());
  }
  exchange_arrays(ranks, items_to, rows.received_items);
  exchange_arrays(ranks, values_to, rows.received_values);
  const SliceRange kept = ratings_in(common(slice.users, rank, wanted, rank));
  for (int from = 0; from < size; ++from) {
    RowPieces::Piece piece = {rows.received_items[from], rows.received_values[from]};
    if (from == rank) piece = {own_part(slice.own_items, kept), own_part(slice.own_values, kept)};
    if (!piece.items.empty()) rows.pieces.push_back(piece);
  }
  return rows;
}

OwnRows exchange_users(const RatingSlice& slice, const std::function<int(std::int32_t)>& rank_of,
                       Communicator& ranks) {
  const int size = ranks.size();
  const int rank = ranks.rank();
  const auto n_users = static_cast<std::int32_t>(std::ssize(slice.user_offsets) - 1);
  // Ranks have ascending users, and so have the rows that each of them sends.
  OwnRows rows;
  rows.offsets.resize(std::int64_t{n_users} + 1);
  rows.offsets[0] = 0;
  PartOffsets from = {0};  // first row of each rank
  for (int sender = 0; sender < size; ++sender) {
    for (auto user = static_cast<std::int32_t>(slice.users[sender]); user < slice.users[sender + 1];
         ++user) {
      const std::int64_t count = slice.user_offsets[user + 1] - slice.user_offsets[user];
      rows.offsets[user + 1] = rows.offsets[user] + (rank_of(user) == rank ? count : 0);
    }
    from.push_back(rows.offsets[slice.users[sender + 1]]);
  }
  rows.others.resize(rows.offsets.back());
  rows.values.resize(rows.offsets.back());
  const Packed packed = pack_users(slice, rank, rank_of, size);
  const auto move = [&](const auto& parts, auto& to) {
    using T = std::remove_cvref_t<decltype(to[0])>;
    std::vector<Outgoing> sends;
    std::vector<Incoming> receives;
    for (int other = 0; other < size; ++other) {
      const std::int64_t count = from[other + 1] - from[other];
      if (other == rank) {
        std::copy(parts[other].begin(), parts[other].end(), to.begin() + from[other]);
        continue;
      }
      if (!parts[other].empty()) sends.push_back(outgoing(other, View<const T>(parts[other])));
      if (count > 0) receives.push_back({other, to.data() + from[other], bytes_of<T>(count)});
    }
    ranks.exchange(sends, receives);
  };
  move(packed.items, rows.others);
  move(packed.values, rows.values);
  return rows;
}

OwnRows exchange_columns(const RatingSlice& slice, const PartOffsets& wanted, Communicator& ranks,
                         ThreadTeam& team) {
  const int rank = ranks.rank();
  const std::int64_t first = wanted[rank];
  const std::int64_t last = wanted[rank + 1];
  ColumnPieces pieces;
  {
    const Csc sorted =
        make_csc(slice.own_users(), slice.own_items, slice.own_values,
                 static_cast<std::int32_t>(std::ssize(slice.item_offsets) - 1), team.size());
    pieces = exchange_pieces(sorted, wanted, ranks);
  }
  OwnRows columns;
  const std::int64_t begin = slice.item_offsets[first];
  for (std::int64_t item = 0; item < std::ssize(slice.item_offsets); ++item) {
    columns.offsets.push_back(slice.item_offsets[std::clamp(item, first, last)] - begin);
  }
  columns.others.resize(columns.offsets.back());
  columns.values.resize(columns.offsets.back());
  constexpr std::int64_t kItemsPerChunk = 64;
  team.for_chunks(last - first, kItemsPerChunk, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t column = from; column < to; ++column) {
      std::int64_t at = columns.offsets[first + column];
      for (int other = 0; other < ranks.size(); ++other) {
        const std::int64_t piece = pieces.offsets[other][column];
        const std::int64_t count = pieces.offsets[other][column + 1] - piece;
        std::copy_n(pieces.users[other].data() + piece, count, columns.others.data() + at);
        std::copy_n(pieces.values[other].data() + piece, count, columns.values.data() + at);
        at += count;
      }
    }
  });
  return columns;
}

}  // namespace mf
