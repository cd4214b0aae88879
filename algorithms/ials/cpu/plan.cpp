#include "algorithms/ials/cpu/plan.hpp"

#include <algorithm>

namespace mf::ials::cpu {
namespace {

// For a second-level cache, for rows of factors: a band, or the pairs of a group.
constexpr std::int64_t kCacheBytes = 512 << 10;
// Rows are banded if they have at least this many pairs in a band, on average.
constexpr std::int64_t kPairsInBand = 4;
constexpr std::int64_t kGroupRows = 16;
constexpr std::int64_t kBandedRows = 1024;
// Groups a thread takes of the banded rows, so that the last one is short.
constexpr std::int64_t kShares = 2;

class Grouping {
 public:
  Grouping(const als::Side& side, std::int64_t others, std::int64_t stride, int threads,
           CgPlan& plan)
      : side_(side), others_(others), row_bytes_(stride * 4), threads_(threads), plan_(plan) {}

  void banded() {
    const std::int64_t begin = plan_.order.shared;
    std::int64_t end = begin;
    std::int64_t pairs = 0;
    for (; end < count() && is_banded(length(end)); ++end) pairs += length(end);
    cut(begin, end, pairs / (kShares * threads_) + 1, kBandedRows, true);
    next_ = end;
  }
  void others() { cut(next_, count(), kCacheBytes / row_bytes_, kGroupRows, false); }

 private:
  std::int64_t count() const { return std::ssize(plan_.order.rows); }
  std::int64_t length(std::int64_t position) const {
    return side_.length(plan_.order.rows[position]);
  }
  bool is_banded(std::int64_t pairs) const {
    return pairs * row_bytes_ > 2 * kCacheBytes &&
           pairs * plan_.band_rows >= kPairsInBand * others_;
  }
  // Groups of limited rows and pairs; a single row may have more pairs.
  void cut(std::int64_t begin, std::int64_t end, std::int64_t most_pairs, std::int64_t most_rows,
           bool banded) {
    for (std::int64_t first = begin; first < end;) {
      std::int64_t last = first;
      std::int64_t pairs = 0;
      do {
        pairs += length(last++);
      } while (last < end && last - first < most_rows && pairs + length(last) <= most_pairs);
      plan_.groups.push_back({first, last, banded});
      first = last;
    }
  }

  const als::Side& side_;
  std::int64_t others_, row_bytes_;
  int threads_;
  CgPlan& plan_;
  std::int64_t next_ = 0;
};

}  // namespace

CgPlan make_cg_plan(const als::Side& side, std::int64_t others, std::int64_t stride, int threads) {
  CgPlan plan;
  plan.order = als::cpu::make_row_plan(side, static_cast<std::int32_t>(stride), threads);
  plan.band_rows = std::max<std::int64_t>(kCacheBytes / (stride * 4), 1);
  Grouping grouping(side, others, stride, threads, plan);
  grouping.banded();
  grouping.others();
  return plan;
}

}  // namespace mf::ials::cpu
