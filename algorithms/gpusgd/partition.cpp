#include "algorithms/gpusgd/partition.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "base/rng.hpp"

namespace mf::gpusgd {
namespace {

// Ratings that one thread counts and moves at a time.
constexpr std::int64_t kPieceRatings = std::int64_t{1} << 20;
// Keeps the order apart from the initial factors, which draw from the plain seed.
constexpr std::uint64_t kOrderSalt = 0x626c6f636b73ULL;

std::int32_t ceil_div(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>((std::int64_t{a} + b - 1) / b);
}

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// Ratings of one row of blocks: they lie side by side, and in order of their users.
struct Piece {
  std::int32_t block_row;
  std::int64_t begin, end;
};

struct Pieces {
  std::vector<Piece> all;
  std::vector<std::size_t> first;  // of each row of blocks, and the number of pieces
};

Pieces cut_pieces(const Ratings& train, const Cut& cut) {
  const auto offsets = train.user_offsets();
  Pieces pieces;
  for (std::int32_t row = 0; row < cut.blocks; ++row) {
    pieces.first.push_back(pieces.all.size());
    const std::int64_t low = std::min<std::int64_t>(std::int64_t{row} * cut.rows, train.n_users());
    const std::int64_t high = std::min<std::int64_t>(low + cut.rows, train.n_users());
    if (low == high) continue;
    for (std::int64_t begin = offsets[index(low)]; begin < offsets[index(high)];
         begin += kPieceRatings) {
      pieces.all.push_back({row, begin, std::min(begin + kPieceRatings, offsets[index(high)])});
    }
  }
  pieces.first.push_back(pieces.all.size());
  return pieces;
}

// places[piece * l + block column]: first how many ratings of the piece the block has, then where
// the first of them goes.
using Places = AlignedVector<std::int64_t>;

Places count_pieces(const Ratings& train, const Cut& cut, const Pieces& pieces, ThreadTeam& team) {
  const auto items = train.items();
  Places places(pieces.all.size() * index(cut.blocks));
  team.for_chunks(static_cast<std::int64_t>(pieces.all.size()), 1,
                  [&](std::int64_t first, std::int64_t) {
                    std::int64_t* counts = places.data() + first * cut.blocks;
                    std::fill(counts, counts + cut.blocks, 0);
                    const Piece& piece = pieces.all[index(first)];
                    for (std::int64_t i = piece.begin; i < piece.end; ++i) {
                      ++counts[items[index(i)] / cut.columns];
                    }
                  });
  return places;
}

// Calls body(slot, count or place) for the pieces of the blocks of a tag, in order.
template <class Body>
void for_tag(const Cut& cut, const Pieces& pieces, Places& places, std::int32_t tag,
             const Body& body) {
  for (std::int32_t row = 0; row < cut.blocks; ++row) {
    const std::int32_t column = column_of(row, tag, cut.blocks);
    for (std::size_t piece = pieces.first[index(row)]; piece < pieces.first[index(row) + 1];
         ++piece) {
      body(row, places[piece * index(cut.blocks) + index(column)]);
    }
  }
}

void turn_counts_into_places(const Cut& cut, const Pieces& pieces, Places& places,
                             AlignedVector<std::int64_t>& offsets, ThreadTeam& team) {
  std::vector<std::int64_t> tag_begin(index(cut.blocks) + 1, 0);
  team.for_chunks(cut.blocks, 1, [&](std::int64_t tag, std::int64_t) {
    for_tag(cut, pieces, places, static_cast<std::int32_t>(tag),
            [&](std::int32_t, std::int64_t count) { tag_begin[index(tag) + 1] += count; });
  });
  for (std::size_t tag = 1; tag < tag_begin.size(); ++tag) tag_begin[tag] += tag_begin[tag - 1];
  team.for_chunks(cut.blocks, 1, [&](std::int64_t tag, std::int64_t) {
    std::int64_t* ends = offsets.data() + tag * cut.blocks + 1;
    std::int64_t at = tag_begin[index(tag)];
    std::int32_t done = 0;  // rows of blocks whose end is known
    for_tag(cut, pieces, places, static_cast<std::int32_t>(tag),
            [&](std::int32_t row, std::int64_t& place) {
              for (; done < row; ++done) ends[done] = at;
              at += std::exchange(place, at);
            });
    for (; done < cut.blocks; ++done) ends[done] = at;
  });
}

// Calls body(first slot, end slot) over the blocks, several at a time where there are many.
void for_slots(std::int64_t slots, ThreadTeam& team,
               const std::function<void(std::int64_t, std::int64_t)>& body) {
  team.for_chunks(slots, std::max<std::int64_t>(1, slots >> 14), body);
}

// Sorts ratings of one block by group, keeping the order inside a group.
class GroupSorter {
 public:
  explicit GroupSorter(std::int32_t side) : side_(side) {}

  // Returns the number of groups.
  std::int64_t sort(Rating* ratings, std::int64_t count) {
    if (count == 0) return 0;
    copy_.assign(ratings, ratings + count);
    // A table of all groups, unless most of it would be empty.
    return count < side_ / 4 ? by_comparison(ratings) : by_counting(ratings);
  }

 private:
  std::int32_t key(const Rating& rating) const { return group_of(rating.user, rating.item, side_); }

  std::int64_t by_comparison(Rating* to) {
    keys_.clear();
    for (std::size_t i = 0; i < copy_.size(); ++i) keys_.emplace_back(key(copy_[i]), i);
    std::sort(keys_.begin(), keys_.end());
    std::int64_t groups = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      to[i] = copy_[keys_[i].second];
      groups += i == 0 || keys_[i].first != keys_[i - 1].first;
    }
    return groups;
  }

  std::int64_t by_counting(Rating* to) {
    places_.assign(index(side_), 0);
    for (const Rating& rating : copy_) ++places_[index(key(rating))];
    std::int64_t groups = 0;
    std::int64_t at = 0;
    for (std::int64_t& place : places_) {
      groups += place > 0;
      at += std::exchange(place, at);
    }
    for (const Rating& rating : copy_) to[places_[index(key(rating))]++] = rating;
    return groups;
  }

  std::int32_t side_;
  std::vector<Rating> copy_;
  std::vector<std::int64_t> places_;
  std::vector<std::pair<std::int32_t, std::size_t>> keys_;
};

// Sums of steps_of(slot): of all blocks, and of the longest block of each diagonal.
struct StepSums {
  std::int64_t all = 0;
  std::int64_t serial = 0;
};

template <class StepsOf>
StepSums sum_steps(std::int32_t blocks, ThreadTeam& team, const StepsOf& steps_of) {
  std::atomic<std::int64_t> all{0};
  std::atomic<std::int64_t> serial{0};
  team.for_chunks(blocks, 1, [&](std::int64_t tag, std::int64_t) {
    std::int64_t sum = 0;
    std::int64_t longest = 0;
    for (std::int64_t slot = tag * blocks; slot < (tag + 1) * blocks; ++slot) {
      const std::int64_t steps = steps_of(slot);
      sum += steps;
      longest = std::max(longest, steps);
    }
    all += sum;
    serial += longest;
  });
  return {all, serial};
}

}  // namespace

Cut square_cut(std::int32_t n_users, std::int32_t n_items, std::int32_t blocks) {
  const std::int32_t side = ceil_div(std::max({n_users, n_items, 1}), blocks);
  return {blocks, side, side};
}

Cut rectangular_cut(std::int32_t n_users, std::int32_t n_items, std::int32_t blocks) {
  return {blocks, ceil_div(std::max(n_users, 1), blocks), ceil_div(std::max(n_items, 1), blocks)};
}

Partition make_partition(const Ratings& train, const Cut& cut, ThreadTeam& team) {
  Partition partition;
  partition.cut = cut;
  partition.ratings.resize(index(train.nnz()));
  partition.offsets.resize(index(partition.slots()) + 1);
  partition.offsets[0] = 0;
  const Pieces pieces = cut_pieces(train, cut);
  Places places = count_pieces(train, cut, pieces, team);
  turn_counts_into_places(cut, pieces, places, partition.offsets, team);
  const auto items = train.items();
  team.for_chunks(static_cast<std::int64_t>(pieces.all.size()), 1,
                  [&](std::int64_t piece, std::int64_t) {
                    std::int64_t* place = places.data() + piece * cut.blocks;
                    const auto [row, begin, end] = pieces.all[index(piece)];
                    for (std::int64_t i = begin; i < end; ++i) {
                      const std::int32_t column = items[index(i)] / cut.columns;
                      partition.ratings[index(place[column]++)] = train[i];
                    }
                  });
  return partition;
}

void shuffle_blocks(Partition& partition, std::uint64_t seed, ThreadTeam& team) {
  for_slots(partition.slots(), team, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t slot = first; slot < end; ++slot) {
      Rating* ratings = partition.ratings.data() + partition.offsets[index(slot)];
      const std::int64_t count =
          partition.offsets[index(slot) + 1] - partition.offsets[index(slot)];
      Rng rng(seed ^ kOrderSalt, static_cast<std::uint64_t>(slot));
      for (std::int64_t i = count - 1; i > 0; --i) {
        std::swap(ratings[i], ratings[rng.below(static_cast<std::uint64_t>(i) + 1)]);
      }
    }
  });
}

Groups group_blocks(Partition& partition, ThreadTeam& team) {
  const std::int32_t side = partition.cut.rows;
  const std::int64_t slots = partition.slots();
  const auto& offsets = partition.offsets;
  Groups groups;
  groups.first.resize(index(slots) + 1);
  for_slots(slots, team, [&](std::int64_t first, std::int64_t end) {
    GroupSorter sorter(side);
    for (std::int64_t slot = first; slot < end; ++slot) {
      const std::int64_t begin = offsets[index(slot)];
      groups.first[index(slot) + 1] =
          sorter.sort(partition.ratings.data() + begin, offsets[index(slot) + 1] - begin);
    }
  });
  groups.first[0] = 0;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    groups.first[index(slot) + 1] += groups.first[index(slot)];
  }
  groups.begins.resize(index(groups.first.back()) + 1);
  groups.begins.back() = offsets.back();
  for_slots(slots, team, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t slot = first; slot < end; ++slot) {
      std::int64_t* next = groups.begins.data() + groups.first[index(slot)];
      std::int32_t last = -1;
      for (std::int64_t i = offsets[index(slot)]; i < offsets[index(slot) + 1]; ++i) {
        const Rating& rating = partition.ratings[index(i)];
        const std::int32_t group = group_of(rating.user, rating.item, side);
        if (group != std::exchange(last, group)) *next++ = i;
      }
    }
  });
  return groups;
}

BlockCounts count_blocks(const Partition& partition, std::int32_t n_users, std::int32_t n_items,
                         ThreadTeam& team) {
  const Cut& cut = partition.cut;
  const StepSums filled = sum_steps(cut.blocks, team, [&](std::int64_t slot) {
    return std::int64_t{partition.offsets[index(slot)] < partition.offsets[index(slot) + 1]};
  });
  const std::int64_t cells =
      std::int64_t{ceil_div(n_users, cut.rows)} * ceil_div(n_items, cut.columns);
  return {partition.slots(), partition.slots() - filled.all, partition.slots() - cells};
}

LaneCounts count_grouped_lanes(const Partition& partition, const Groups& groups, int threads,
                               ThreadTeam& team) {
  const StepSums steps = sum_steps(partition.cut.blocks, team, [&](std::int64_t slot) {
    std::int64_t sum = 0;
    for (std::int64_t g = groups.first[index(slot)]; g < groups.first[index(slot) + 1]; ++g) {
      sum += (groups.begins[index(g) + 1] - groups.begins[index(g)] + threads - 1) / threads;
    }
    return sum;
  });
  const std::int64_t lanes = steps.all * threads;
  return {lanes, lanes - partition.offsets.back(), steps.serial};
}

int tree_rounds(std::int32_t factors) {
  int rounds = 0;
  for (std::int32_t step = 1; step < factors; step *= 2) ++rounds;
  return rounds;
}

LaneCounts count_tree_lanes(const Partition& partition, std::int32_t factors, int threads,
                            ThreadTeam& team) {
  const std::int64_t steps_of_rating = 2 + tree_rounds(factors);
  const StepSums steps = sum_steps(partition.cut.blocks, team, [&](std::int64_t slot) {
    return (partition.offsets[index(slot) + 1] - partition.offsets[index(slot)]) * steps_of_rating;
  });
  // f products, f - 1 additions and f elements to update.
  const std::int64_t busy = partition.offsets.back() * (3 * std::int64_t{factors} - 1);
  return {steps.all * threads, steps.all * threads - busy, steps.serial};
}

}  // namespace mf::gpusgd
