#include "algorithms/gpusgd/test/partition.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/json/json.hpp"

namespace mf::gpusgd {
namespace {

// About as many pieces of the ratings, where there are fewer rows of blocks: a thread counts and
// moves one at a time.
constexpr std::int64_t kPieces = 256;

// Ratings of one row of blocks, which lie side by side and in order of their users.
struct Piece {
  std::int32_t row;
  std::int64_t begin, end;
};

// Each row of blocks is cut into `parts` pieces.
Piece make_piece(const Ratings& train, const Cut& cut, std::int64_t parts, std::int64_t number) {
  const std::int64_t row = number / parts;
  const std::int64_t part = number % parts;
  const auto first_of = [&](std::int64_t block_row) {
    return train.user_offsets()[std::min<std::int64_t>(block_row * cut.rows, train.n_users())];
  };
  const std::int64_t low = first_of(row);
  const std::int64_t count = first_of(row + 1) - low;
  return {static_cast<std::int32_t>(row), low + count * part / parts,
          low + count * (part + 1) / parts};
}

// counts[piece * l + block column] of ratings become places in the block, counted from its first
// rating. Returns Partition::offsets.
AlignedVector<std::int64_t> block_offsets(const Cut& cut, std::int64_t parts,
                                          AlignedVector<std::int64_t>& counts, ThreadTeam& team) {
  const std::int64_t l = cut.blocks;
  AlignedVector<std::int64_t> offsets(l * l + 1);
  offsets[0] = 0;
  team.for_chunks(l, 1, [&](std::int64_t tag, std::int64_t) {
    for (std::int32_t row = 0; row < l; ++row) {
      const std::int32_t column = column_of(row, static_cast<std::int32_t>(tag), cut.blocks);
      std::int64_t size = 0;
      for (std::int64_t piece = row * parts; piece < (row + 1) * parts; ++piece) {
        size += std::exchange(counts[piece * l + column], size);
      }
      offsets[tag * l + row + 1] = size;
    }
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return offsets;
}

// Calls body(first slot, end slot) over the blocks, several at a time where there are many.
template <class Body>
void for_slots(const Partition& partition, ThreadTeam& team, const Body& body) {
  team.for_chunks(partition.slots(), std::max<std::int64_t>(1, partition.slots() >> 14), body);
}

// Sorts the ratings of one block by group, keeping their order inside a group.
class GroupSorter {
 public:
  explicit GroupSorter(std::int32_t side) : side_(side) {}

  // Returns the number of groups.
  std::int64_t sort(View<Rating> block) {
    if (block.empty()) return 0;
    // A table of all groups, unless most of it would be empty.
    return block.size() < side_ / 4 ? by_comparison(block) : by_counting(block);
  }

 private:
  std::int32_t group(const Rating& rating) const {
    return group_of(rating.user, rating.item, side_);
  }

  std::int64_t by_comparison(View<Rating> block) const {
    std::stable_sort(block.begin(), block.end(),
                     [this](const Rating& a, const Rating& b) { return group(a) < group(b); });
    std::int64_t groups = 1;
    for (std::int64_t i = 1; i < block.size(); ++i) {
      groups += group(block[i]) != group(block[i - 1]);
    }
    return groups;
  }

  std::int64_t by_counting(View<Rating> block) {
    copy_.assign(block.begin(), block.end());
    places_.assign(side_, 0);
    for (const Rating& rating : copy_) ++places_[group(rating)];
    std::int64_t groups = 0;
    std::int64_t at = 0;
    for (std::int64_t& place : places_) {
      groups += place > 0;
      at += std::exchange(place, at);
    }
    for (const Rating& rating : copy_) block[places_[group(rating)]++] = rating;
    return groups;
  }

  std::int32_t side_;
  std::vector<Rating> copy_;
  std::vector<std::int64_t> places_;
};

}  // namespace

Partition make_partition(const Ratings& train, const Cut& cut, ThreadTeam& team) {
  const std::int64_t l = cut.blocks;
  const std::int64_t parts = std::max<std::int64_t>(1, kPieces / l);
  const auto items = train.items();
  AlignedVector<std::int64_t> places(l * parts * l);
  const auto for_pieces = [&](const auto& body) {
    team.for_chunks(l * parts, 1, [&](std::int64_t number, std::int64_t) {
      body(make_piece(train, cut, parts, number), places.data() + number * l);
    });
  };
  for_pieces([&](const Piece& piece, std::int64_t* counts) {
    std::fill_n(counts, l, 0);
    for (std::int64_t i = piece.begin; i < piece.end; ++i) ++counts[items[i] / cut.columns];
  });
  Partition partition{cut, AlignedVector<Rating>(train.nnz()),
                      block_offsets(cut, parts, places, team)};
  for_pieces([&](const Piece& piece, std::int64_t* place) {
    for (std::int32_t column = 0; column < l; ++column) {
      const std::int32_t tag = tag_of(piece.row, column, cut.blocks);
      place[column] += partition.offsets[slot_of(tag, piece.row, cut.blocks)];
    }
    for (std::int64_t i = piece.begin; i < piece.end; ++i) {
      partition.ratings[place[items[i] / cut.columns]++] = train[i];
    }
  });
  return partition;
}

void shuffle_blocks(Partition& partition, const Ratings& train, std::uint64_t seed) {
  AlignedVector<std::int64_t> next = partition.offsets;
  const Permutation order = shuffled_order(train.nnz(), seed);
  for (std::int64_t i = 0; i < train.nnz(); ++i) {
    const Rating rating = train[order(i)];
    partition.ratings[next[slot_of_rating(partition.cut, rating.user, rating.item)]++] = rating;
  }
}

Groups group_blocks(Partition& partition, ThreadTeam& team) {
  const std::int32_t side = partition.cut.rows;
  Groups groups;
  auto& first = groups.first;
  first.resize(partition.slots() + 1);
  first[0] = 0;
  for_slots(partition, team, [&](std::int64_t begin, std::int64_t end) {
    GroupSorter sorter(side);
    for (std::int64_t slot = begin; slot < end; ++slot) {
      first[slot + 1] = sorter.sort(partition.block(slot));
    }
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  groups.begins.resize(first.back() + 1);
  groups.begins.back() = partition.offsets.back();
  for_slots(partition, team, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t slot = begin; slot < end; ++slot) {
      std::int64_t* next = groups.begins.data() + first[slot];
      std::int32_t last = -1;
      for (std::int64_t i = partition.offsets[slot]; i < partition.offsets[slot + 1]; ++i) {
        const Rating& rating = partition.ratings[i];
        const std::int32_t group = group_of(rating.user, rating.item, side);
        if (group != std::exchange(last, group)) *next++ = i;
      }
    }
  });
  return groups;
}

Arrangement arrange(const Settings& settings, const Ratings& train, std::uint64_t seed,
                    ThreadTeam& team) {
  const bool grouped = settings.scheme == Scheme::grouped;
  const auto cut_of = grouped ? square_cut : rectangular_cut;
  Partition partition =
      make_partition(train, cut_of(train.n_users(), train.n_items(), settings.blocks), team);
  Groups groups;
  if (grouped) groups = group_blocks(partition, team);
  if (settings.order == Order::shuffled) shuffle_blocks(partition, train, seed);
  return {std::move(partition), std::move(groups)};
}

BlockCounts count_blocks(const Settings& settings, const Arrangement& arrangement) {
  const auto& [partition, groups] = arrangement;
  const std::int64_t l = partition.cut.blocks;
  BlockCounts counts;
  for (std::int64_t tag = 0; tag < l; ++tag) {
    std::int64_t longest = 0;
    for (std::int64_t slot = tag * l; slot < (tag + 1) * l; ++slot) {
      std::int64_t own = partition.size(slot) * steps_of_tree(settings.factors);
      if (settings.scheme == Scheme::grouped) {
        own = 0;
        for (std::int64_t g = groups.first[slot]; g < groups.first[slot + 1]; ++g) {
          own +=
              steps_of_group(groups.begins[g + 1] - groups.begins[g], settings.threads_per_block);
        }
      }
      counts.blank += own == 0 ? 1 : 0;
      counts.steps += own;
      longest = std::max(longest, own);
    }
    counts.serial += longest;
  }
  return counts;
}

Json facts_of(const Settings& settings, const Arrangement& arrangement, const Ratings& train) {
  return facts_of(settings, arrangement.partition.cut, count_blocks(settings, arrangement),
                  {train.n_users(), train.n_items(), train.nnz()});
}

}  // namespace mf::gpusgd
