#include "datasets/ratings/rank_parts.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "datasets/ratings/packed/packed_form.hpp"
#include "datasets/ratings/packed/rating_packer.hpp"
#include "datasets/ratings/rank_blocks.hpp"
#include "datasets/ratings/select_parts.hpp"
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

constexpr std::int64_t kChunk = 1024 * kPackedBlock;  // ratings that a thread takes at a time
constexpr std::int64_t kUserChunk = 4096;

// What the other ranks send to rank 0; on these it gives back nothing.
class Gathering {
 public:
  Gathering(const PartOffsets& users, const PartOffsets& parts, Communicator& ranks,
            ThreadTeam& team)
      : users_(users), parts_(parts), ranks_(ranks), team_(team) {}

  // Those of all rows, from those of each rank's own.
  AlignedVector<std::int64_t> offsets(View<const std::int64_t> own) const {
    AlignedVector<std::int32_t> counts(users_.back());
    const std::int64_t begin = users_[ranks_.rank()];
    const std::int64_t end = users_[ranks_.rank() + 1];
    for (std::int64_t user = begin; user < end; ++user)
      counts[user] = static_cast<std::int32_t>(own[user + 1] - own[user]);
    to_rank_0([&](int rank) { return View(counts).part(users_[rank], users_[rank + 1]); });
    AlignedVector<std::int64_t> all(ranks_.leads() ? users_.back() + 1 : 0, 0);
    for (std::int64_t user = 0; user + 1 < std::ssize(all); ++user)
      all[user + 1] = all[user] + counts[user];
    return all;
  }

  // By rank; nothing of rank 0.
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
    to_rank_0([&](int rank) { return View(of(rank).table); });
    to_rank_0([&](int rank) { return View(of(rank).words); });
    return all;
  }

  void unpack(const std::vector<PackedRatings>& packed, Columns3& all) const {
    for (int rank = 1; rank < ranks_.size(); ++rank) {
      const PackedRatings& from = packed[static_cast<std::size_t>(rank)];
      team_.for_chunks(from.count, kChunk, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const RowRating one = unpacked(from.form, from.table.data(), from.words.data(), i);
          all.items[parts_[rank] + i] = one.other;
          all.values[parts_[rank] + i] = one.value;
        }
      });
    }
  }

  void fill_users(const AlignedVector<std::int64_t>& offsets,
                  AlignedVector<std::int32_t>& to) const {
    team_.for_chunks(users_.back(), kUserChunk, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t user = begin; user < end; ++user)
        std::fill(to.begin() + offsets[user], to.begin() + offsets[user + 1],
                  static_cast<std::int32_t>(user));
    });
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

  // of(rank): where it is, on that rank and on rank 0.
  template <class Of>
  void to_rank_0(const Of& of) const {
    std::vector<Outgoing> sends;
    std::vector<Incoming> receives;
    for (int rank = 1; rank < ranks_.size(); ++rank) {
      const auto part = of(rank);
      const auto bytes = static_cast<std::int64_t>(part.size_bytes());
      if (bytes > 0 && rank == ranks_.rank()) sends.push_back({0, part.data(), bytes});
      if (bytes > 0 && ranks_.leads()) receives.push_back({rank, part.data(), bytes});
    }
    ranks_.exchange(sends, receives);
  }

  const PartOffsets& users_;
  const PartOffsets& parts_;
  Communicator& ranks_;
  ThreadTeam& team_;
};

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

Ratings ratings_on_rank_0(const Ratings& own, const PartOffsets& users, const PartOffsets& parts,
                          Communicator& ranks, ThreadTeam& team) {
  if (parts.back() == 0) return no_ratings_of(share_ids(own));  // on all
  const Gathering gathering{users, parts, ranks, team};
  const AlignedVector<std::int64_t> offsets = gathering.offsets(own.user_offsets());
  std::vector<PackedRatings> packed = gathering.packed(own);
  Columns3 all;
  if (ranks.leads()) {
    all = for_columns(own, [&](const auto& column) {
      AlignedVector<std::remove_cvref_t<decltype(column[0])>> to(parts.back());
      team.for_chunks(column.size(), kChunk, [&](std::int64_t begin, std::int64_t end) {
        std::copy(column.begin() + begin, column.begin() + end, to.begin() + begin);
      });
      return to;
    });
    gathering.unpack(packed, all);
    gathering.fill_users(offsets, all.users);
  }
  packed.clear();
  return ratings_from(std::move(all), own, team);
}

}  // namespace mf
