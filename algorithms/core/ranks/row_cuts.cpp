#include "algorithms/core/ranks/row_cuts.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace mf {
namespace {

// A rule by the lengths of rows. It is asked once for each short length: there may be 50 million
// rows, most of which are short.
class Costs {
 public:
  explicit Costs(const RowCost& rule) : rule_(rule) {
    for (std::int64_t count = 0; count < kShort; ++count) short_.push_back(rule(count));
  }
  double operator()(std::int64_t count) const {
    return count < kShort ? short_[count] : rule_(count);
  }

 private:
  static constexpr std::int64_t kShort = 1 << 12;
  const RowCost& rule_;
  std::vector<double> short_;
};

// The work before any row. It is kept for the first row of each block, from which the others are
// reckoned: sums are the same for any number of threads and ranks.
class RowWork {
 public:
  RowWork(View<const std::int64_t> offsets, const RowCost& rule, ThreadTeam* team,
          Communicator* ranks = nullptr)
      : offsets_(offsets), costs_(rule), before_block_((rows() + kBlock - 1) / kBlock + 1, 0.0) {
    const std::int64_t blocks = std::ssize(before_block_) - 1;
    if (ranks == nullptr || blocks < kManyBlocks) {
      sum_blocks(0, blocks, team);
    } else {
      PartOffsets shares;
      for (int rank = 0; rank <= ranks->size(); ++rank)
        shares.push_back(blocks * rank / ranks->size());
      sum_blocks(shares[ranks->rank()], shares[ranks->rank() + 1], team);
      ranks->all_gather(std::span(before_block_).subspan(1), shares);
    }
    for (std::int64_t block = 0; block < blocks; ++block)
      before_block_[block + 1] += before_block_[block];
  }

  std::int64_t rows() const { return offsets_.size() - 1; }
  double all() const { return before_block_.back(); }

  RowShards shard(int ranks, const PartShares& parts) const {
    const RowCuts cuts = cut({0, rows()}, even_shares(ranks));
    RowShards shards;
    for (int rank = 0; rank < ranks; ++rank) {
      shards.parts.push_back(cut(rows_of(cuts, rank), parts));
    }
    return shards;
  }

  // Cuts the rows by these shares of their work. A row goes to the part whose share contains its
  // middle.
  RowCuts cut(RowRange all, const PartShares& shares) const {
    const double first = before(all.begin);
    const double work = before(all.end) - first;
    RowCuts cuts = {all.begin};
    double share = 0;
    for (std::size_t part = 0; part + 1 < shares.size(); ++part) {
      share += shares[part];
      const RowRange left = {cuts.back(), all.end};
      cuts.push_back(work > 0 ? first_beyond(first + work * share, left) : all.end);
    }
    cuts.push_back(all.end);
    return cuts;
  }

 private:
  static constexpr std::int64_t kBlock = 1 << 12;
  static constexpr std::int64_t kManyBlocks = 1 << 8;  // whose sums take longer than a gather

  void sum_blocks(std::int64_t first, std::int64_t last, ThreadTeam* team) {
    const auto sum = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t block = first + begin; block < first + end; ++block)
        before_block_[block + 1] = own(block);
    };
    team != nullptr ? team->for_chunks(last - first, 1, sum) : sum(0, last - first);
  }
  double cost(std::int64_t row) const { return costs_(offsets_[row + 1] - offsets_[row]); }
  double sum(std::int64_t begin, std::int64_t end) const {
    double work = 0;
    for (std::int64_t row = begin; row < end; ++row) work += cost(row);
    return work;
  }
  double own(std::int64_t block) const {
    return sum(block * kBlock, std::min(rows(), (block + 1) * kBlock));
  }
  double before(std::int64_t row) const {
    const std::int64_t block = row / kBlock;
    return before_block_[block] + sum(block * kBlock, row);
  }

  // The first of the rows whose middle lies at `work` or beyond, or their end.
  std::int64_t first_beyond(double work, RowRange rows) const {
    const auto next = std::lower_bound(before_block_.begin(), before_block_.end(), work);
    const std::int64_t block = std::max<std::int64_t>(1, next - before_block_.begin()) - 1;
    std::int64_t row = std::max(rows.begin, block * kBlock);
    for (double at = before(row); row < rows.end; ++row) {
      const double of_row = cost(row);
      if (at + of_row / 2 >= work) break;
      at += of_row;
    }
    return std::min(row, rows.end);
  }

  View<const std::int64_t> offsets_;
  Costs costs_;
  std::vector<double> before_block_;
};

}  // namespace

PartShares even_shares(int parts) { return PartShares(parts, 1.0 / parts); }

RowCost ratings_and(double row_cost) {
  return [row_cost](std::int64_t count) {
    return count > 0 ? static_cast<double>(count) + row_cost : 0.0;
  };
}

RowCuts cut_rows(View<const std::int64_t> offsets, double row_cost, int ranks) {
  const RowCost cost = ratings_and(row_cost);
  const RowWork work(offsets, cost, nullptr);
  return work.cut({0, work.rows()}, even_shares(ranks));
}

RowShards one_shard(std::int64_t rows) { return {{{0, rows}}}; }

RowShards shard_rows(View<const std::int64_t> offsets, const RowCost& cost, int ranks,
                     const PartShares& parts, ThreadTeam* team) {
  return RowWork(offsets, cost, team).shard(ranks, parts);
}

RowShards shard_rows(View<const std::int64_t> offsets, const RowCost& cost, Communicator& ranks,
                     const PartRule& parts, ThreadTeam& team) {
  const RowWork work(offsets, cost, &team, &ranks);
  return work.shard(ranks.size(), parts(work.all()));
}

}  // namespace mf
