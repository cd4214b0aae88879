#include "algorithms/core/ranks/row_cuts.hpp"

#include <iterator>
#include <utility>

namespace mf {
namespace {

// A rule by the lengths of rows. It is asked once for each short length: there may be 50 million
// rows, most of which are short, and each is looked at four times.
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

RowCuts cut_by(View<const std::int64_t> offsets, const Costs& costs, const PartShares& shares) {
  const std::int64_t parts = std::ssize(shares);
  std::vector<double> begins = {0};  // of the parts, in shares of all
  for (const double share : shares) begins.push_back(begins.back() + share);
  const std::int64_t rows = offsets.size() - 1;
  const auto cost = [&](std::int64_t row) { return costs(offsets[row + 1] - offsets[row]); };
  double all = 0;
  for (std::int64_t row = 0; row < rows; ++row) all += cost(row);
  RowCuts cuts = {0};
  if (all > 0) {
    // A row goes to the part in whose share its middle lies.
    const auto share_ends = [&] { return all * begins[std::ssize(cuts)]; };
    double before = 0;
    double end = share_ends();
    for (std::int64_t row = 0; row < rows; ++row) {
      const double own = cost(row);
      const double middle = before + own / 2;
      for (; middle >= end && std::ssize(cuts) < parts; end = share_ends()) cuts.push_back(row);
      before += own;
    }
  }
  while (std::ssize(cuts) < parts + 1) cuts.push_back(rows);
  return cuts;
}

}  // namespace

PartShares even_shares(int parts) { return PartShares(parts, 1.0 / parts); }

RowCuts cut_rows(View<const std::int64_t> offsets, const RowCost& cost, int parts) {
  return cut_by(offsets, Costs(cost), even_shares(parts));
}

RowCost ratings_and(double row_cost) {
  return [row_cost](std::int64_t count) {
    return count > 0 ? static_cast<double>(count) + row_cost : 0.0;
  };
}

RowCuts cut_rows(View<const std::int64_t> offsets, double row_cost, int ranks) {
  return cut_rows(offsets, ratings_and(row_cost), ranks);
}

RowShards one_shard(std::int64_t rows) { return {{{0, rows}}}; }

RowShards shard_rows(View<const std::int64_t> offsets, const RowCost& cost, int ranks,
                     const PartShares& parts) {
  RowShards shards;
  const Costs costs(cost);
  const RowCuts cuts = cut_by(offsets, costs, even_shares(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const RowRange own = rows_of(cuts, rank);
    RowCuts inner = cut_by(offsets.part(own.begin, own.end + 1), costs, parts);
    for (std::int64_t& cut : inner) cut += own.begin;
    shards.parts.push_back(std::move(inner));
  }
  return shards;
}

}  // namespace mf
