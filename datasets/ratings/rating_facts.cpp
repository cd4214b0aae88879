#include "datasets/ratings/rating_facts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "datasets/ratings/rank_blocks.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
namespace {

// Length of a partial sum; fixed, so that the rounding does not depend on the threads.
constexpr std::int64_t kRatingChunk = std::int64_t{1} << 16;
constexpr std::int64_t kRowChunk = std::int64_t{1} << 14;
// Running sums that hide the latency of an addition.
constexpr std::int64_t kLanes = 8;

// The sum of term(i) over [begin, end).
template <class Term>
double sum_in_lanes(std::int64_t begin, std::int64_t end, const Term& term) {
  std::array<double, kLanes> sums{};
  const std::int64_t whole = begin + (end - begin) / kLanes * kLanes;
  for (std::int64_t i = begin; i < whole; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += term(i + lane);
  }
  for (std::int64_t i = whole; i < end; ++i) sums[i - whole] += term(i);
  double sum = 0;
  for (const double lane : sums) sum += lane;
  return sum;
}

// Sums over the values of all ranks, which follow each other as `parts` says.
class ValueSums {
 public:
  ValueSums(View<const float> own, PartOffsets parts, Communicator& ranks, ThreadTeam& team)
      : own_(own),
        parts_(std::move(parts)),
        ranks_(ranks),
        team_(team),
        rest_(rest_of_blocks(own, parts_, kRatingChunk, ranks)) {}

  MeanAndDeviation level() const {
    const double mean = this->mean();
    return {mean, std::sqrt(mean_of([mean](double value) {
              const double off = value - mean;
              return off * off;
            }))};
  }
  double mean() const {
    return mean_of([](double value) { return value; });
  }

 private:
  template <class Term>
  double mean_of(const Term& term) const {
    if (parts_.back() == 0) return 0;
    const BlockRange blocks = blocks_of(parts_, ranks_.rank(), kRatingChunk);
    const std::int64_t skipped = blocks.begin - parts_[ranks_.rank()];
    std::vector<double> partial((blocks.size() + kRatingChunk - 1) / kRatingChunk);
    team_.for_chunks(blocks.size(), kRatingChunk, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t first = skipped + begin;
      AlignedVector<float> block;  // the last one, if it goes on with the next ranks
      if (skipped + end > own_.size()) {
        block.assign(own_.begin() + first, own_.end());
        block.insert(block.end(), rest_.begin(), rest_.end());
      }
      const float* const values = block.empty() ? own_.data() + first : block.data();
      partial[begin / kRatingChunk] = sum_in_lanes(
          0, end - begin, [values, term](std::int64_t i) { return term(double{values[i]}); });
    });
    double total = 0;
    for (const double sum : sums_of_all(partial, parts_, kRatingChunk, ranks_)) total += sum;
    return total / static_cast<double>(parts_.back());
  }

  const View<const float> own_;
  const PartOffsets parts_;
  Communicator& ranks_;
  ThreadTeam& team_;
  const AlignedVector<float> rest_;  // of the last block of the own ones
};

// How many of the ratings with counted(i) each item has. Each part of the ratings has its own
// counters; the number of parts is limited so that there are no more counters than ratings.
template <class Counted>
AlignedVector<std::int64_t> count_items(const Ratings& ratings, ThreadTeam& team,
                                        const Counted& counted) {
  const std::int64_t n = ratings.n_items();
  const std::int64_t nnz = ratings.nnz();
  const std::int64_t parts =
      std::clamp<std::int64_t>(nnz / std::max<std::int64_t>(1, n), 1, team.size());
  std::vector<AlignedVector<std::int64_t>> counts(parts);
  team.for_chunks(parts, 1, [&](std::int64_t part, std::int64_t) {
    counts[part].assign(n, 0);
    const auto items = ratings.items();
    std::int64_t* const own = counts[part].data();
    for (std::int64_t i = nnz * part / parts; i < nnz * (part + 1) / parts; ++i) {
      if (counted(i)) ++own[items[i]];
    }
  });
  team.for_chunks(n, kRowChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = 1; part < parts; ++part) {
      for (std::int64_t i = begin; i < end; ++i) counts[0][i] += counts[part][i];
    }
  });
  return std::move(counts[0]);
}

// Sets flags[row] where has(row), and returns how many have it.
template <class Has>
std::int64_t flag_rows(std::vector<std::uint8_t>& flags, std::int64_t rows, ThreadTeam& team,
                       const Has& has) {
  flags.resize(rows);
  std::vector<std::int64_t> partial((rows + kRowChunk - 1) / kRowChunk);
  team.for_chunks(rows, kRowChunk, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t count = 0;
    for (std::int64_t row = begin; row < end; ++row) {
      flags[row] = has(row) ? 1 : 0;
      count += flags[row];
    }
    partial[begin / kRowChunk] = count;
  });
  std::int64_t total = 0;
  for (const auto count : partial) total += count;
  return total;
}

}  // namespace

double mean_rating(const Ratings& ratings, ThreadTeam& team) {
  Communicator self;
  return ValueSums(ratings.values(), {0, ratings.nnz()}, self, team).mean();
}

double mean_rating(const Ratings& ratings) {
  ThreadTeam single(1);
  return mean_rating(ratings, single);
}

MeanAndDeviation mean_and_deviation(const Ratings& ratings, ThreadTeam& team) {
  Communicator self;
  return ValueSums(ratings.values(), {0, ratings.nnz()}, self, team).level();
}

namespace {

RatingFacts facts_from(const MeanAndDeviation& level, View<const std::int64_t> user_offsets,
                       AlignedVector<std::int64_t> item_offsets, ThreadTeam& team) {
  RatingFacts facts;
  facts.mean = level.mean;
  facts.deviation = level.deviation;
  facts.item_offsets = std::move(item_offsets);
  const auto count_rows = [&](std::vector<std::uint8_t>& known, View<const std::int64_t> offsets) {
    const std::int64_t rows = std::max<std::int64_t>(0, offsets.size() - 1);
    return flag_rows(known, rows, team,
                     [&](std::int64_t row) { return offsets[row] < offsets[row + 1]; });
  };
  facts.rating_users = count_rows(facts.known_user, user_offsets);
  facts.rated_items = count_rows(facts.known_item, facts.item_offsets);
  return facts;
}

}  // namespace

RatingFacts facts_of(const Ratings& ratings, ThreadTeam& team) {
  return facts_from(mean_and_deviation(ratings, team), ratings.user_offsets(),
                    key_offsets(ratings.items(), ratings.n_items(), team), team);
}

RatingFacts facts_of(const RatingSlice& slice, Communicator& ranks, ThreadTeam& team) {
  const ValueSums values(slice.own_values, slice.rating_parts(), ranks, team);
  return facts_from(values.level(), slice.user_offsets, slice.item_offsets, team);
}

RatingFacts facts_of(const Ratings& ratings, int threads) {
  ThreadTeam team(useful_threads(threads, ratings.nnz()));
  return facts_of(ratings, team);
}

ObservedCounts count_observed(const Ratings& ratings, ThreadTeam& team) {
  const auto values = ratings.values();
  const auto offsets = ratings.user_offsets();
  const auto observed = [&](std::int64_t i) { return values[i] > 0; };
  ObservedCounts counts;
  counts.of_item = count_items(ratings, team, observed);
  counts.of_user.resize(ratings.n_users());
  team.for_chunks(ratings.n_users(), kRowChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t u = begin; u < end; ++u) {
      std::int64_t count = 0;
      for (std::int64_t i = offsets[u]; i < offsets[u + 1]; ++i) count += observed(i) ? 1 : 0;
      counts.of_user[u] = count;
    }
  });
  return counts;
}

}  // namespace mf
