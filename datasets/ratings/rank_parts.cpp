#include "datasets/ratings/rank_parts.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "datasets/ratings/packed/packed_form.hpp"
#include "datasets/ratings/packed/rating_packer.hpp"
#include "datasets/ratings/rank_blocks.hpp"
#include "datasets/ratings/rank_offsets.hpp"
#include "datasets/ratings/row_users.hpp"
#include "datasets/ratings/select_parts.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"
#include "datasets/ratings/to_rank_0.hpp"

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

// Over the users and items of `own`, with copied ids.
Ratings ratings_from(Columns3 columns, AlignedVector<std::int64_t> offsets, const Ratings& own,
                     ThreadTeam& team) {
  struct Owner {
    SharedIds ids;
    Columns3 columns;
    AlignedVector<std::int64_t> offsets;
  };
  auto owner = std::make_shared<Owner>();
  owner->ids = copy_ids(own, team);
  owner->columns = std::move(columns);
  owner->offsets = std::move(offsets);
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

constexpr std::int64_t kPartsChunk = 1024 * kPackedBlock;  // ratings that a thread takes at a time
constexpr std::int64_t kRankRows = 4096;                   // likewise

// To the start of so many.
template <class T>
AlignedVector<T> copy_of(View<const T> from, std::int64_t size, ThreadTeam& team) {
  AlignedVector<T> to(size);
  team.for_chunks(from.size(), kPartsChunk, [&](std::int64_t begin, std::int64_t end) {
    std::copy(from.begin() + begin, from.begin() + end, to.begin() + begin);
  });
  return to;
}

// Offsets of rows after the first ratings are skipped and the users `rest` follow.
AlignedVector<std::int64_t> moved_offsets(View<const std::int64_t> own, std::int64_t skipped,
                                          View<const std::int32_t> rest, ThreadTeam& team) {
  AlignedVector<std::int64_t> offsets(own.size());
  team.for_chunks(own.size(), kRankRows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const bool before = rest.empty() || row <= rest.front();
      const auto after = before ? rest.begin() : std::lower_bound(rest.begin(), rest.end(), row);
      offsets[row] = std::max<std::int64_t>(0, own[row] - skipped) + (after - rest.begin());
    }
  });
  return offsets;
}

// Gathers the other ranks' ratings on rank 0; empty on the others.
class Gathering {
 public:
  Gathering(const PartOffsets& parts, Communicator& ranks, ThreadTeam& team)
      : parts_(parts), ranks_(ranks), team_(team) {}

  // By rank; empty for rank 0.
  std::vector<PackedRatings> packed(const Ratings& own) const {
    std::vector<PackedRatings> all(static_cast<std::size_t>(ranks_.size()));
    const auto of = [&](int rank) -> PackedRatings& { return all[static_cast<std::size_t>(rank)]; };
    if (!ranks_.leads())
      of(ranks_.rank()) = pack_ratings(own.items(), own.values(), own.n_items(), team_);
    const std::vector<Head> heads = heads_of_all(of(ranks_.rank()));
    for (int rank = 1; ranks_.leads() && rank < ranks_.size(); ++rank) {
      const Head& head = heads[static_cast<std::size_t>(rank)];
      PackedRatings& one = of(rank);
      one.form = head.form;
      one.count = parts_[rank + 1] - parts_[rank];
      one.table.resize(head.table);
      one.words.resize(one.form.words(one.count) + 1);
    }
    to_rank_0([&](int rank) { return View(of(rank).table); }, ranks_);
    to_rank_0([&](int rank) { return View(of(rank).words); }, ranks_);
    return all;
  }

  void unpack(const std::vector<PackedRatings>& packed, Columns3& all, ThreadTeam& team) const {
    for (int rank = 1; rank < ranks_.size(); ++rank) {
      const PackedRatings& from = packed[static_cast<std::size_t>(rank)];
      team.for_chunks(from.count, kPartsChunk, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const RowRating one = unpacked(from.form, from.table.data(), from.words.data(), i);
          all.items[parts_[rank] + i] = one.other;
          all.values[parts_[rank] + i] = one.value;
        }
      });
    }
  }

 private:
  struct Head {
    PackedForm form;
    std::int64_t table = 0;  // values in it
  };

  std::vector<Head> heads_of_all(const PackedRatings& own) const {
    std::vector<Head> heads(static_cast<std::size_t>(ranks_.size()));
    heads[static_cast<std::size_t>(ranks_.rank())] = {own.form, std::ssize(own.table)};
    PartOffsets one_each;
    for (int rank = 0; rank <= ranks_.size(); ++rank) one_each.push_back(rank);
    ranks_.all_gather(std::span(heads), one_each);
    return heads;
  }

  const PartOffsets& parts_;
  Communicator& ranks_;
  ThreadTeam& team_;
};

}  // namespace

Ratings ratings_of_blocks(const Ratings& own, const PartOffsets& parts, std::int64_t block,
                          Communicator& ranks, ThreadTeam& team) {
  const BlockRange blocks = blocks_of(parts, ranks.rank(), block);
  const std::int64_t skipped = std::min(blocks.begin - parts[ranks.rank()], own.nnz());
  Columns3 columns = for_columns(own, [&](const auto& column) {
    using T = std::remove_cvref_t<decltype(column[0])>;
    const auto rest = rest_of_blocks(column, parts, block, ranks);
    const View<const T> kept = column.part(skipped, column.size());
    AlignedVector<T> all = copy_of(kept, kept.size() + std::ssize(rest), team);
    std::copy(rest.begin(), rest.end(), all.begin() + kept.size());
    return all;
  });
  const View<const std::int32_t> users = columns.users;
  AlignedVector<std::int64_t> offsets = moved_offsets(
      own.user_offsets(), skipped, users.part(own.nnz() - skipped, users.size()), team);
  return ratings_from(std::move(columns), std::move(offsets), own, team);
}

Ratings ratings_on_rank_0(const Ratings& own, const PartOffsets& users, const PartOffsets& parts,
                          Communicator& ranks, ThreadTeam& team) {
  if (parts.back() == 0) return no_ratings_of(share_ids(own));  // on all
  AlignedVector<std::int64_t> offsets = offsets_on_rank_0(own.user_offsets(), users, ranks, team);
  const Gathering gathering{parts, ranks, team};
  const std::vector<PackedRatings> packed = gathering.packed(own);
  if (!ranks.leads()) return no_ratings_of(copy_ids(own, team));
  // The others wait meanwhile.
  ThreadTeam wide(useful_threads(hardware_threads(), parts.back()));
  Columns3 all =
      for_columns(own, [&](const auto& column) { return copy_of(column, parts.back(), wide); });
  gathering.unpack(packed, all, wide);
  fill_row_users(offsets, all.users, wide);
  return ratings_from(std::move(all), std::move(offsets), own, wide);
}

}  // namespace mf
