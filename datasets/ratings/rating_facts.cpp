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

// The sum of term(value) over the values of one process.
template <class Term>
double sum_in_chunks(View<const float> all, ThreadTeam& team, const Term& term) {
  std::vector<double> partial((all.size() + kRatingChunk - 1) / kRatingChunk);
  team.for_chunks(all.size(), kRatingChunk, [&](std::int64_t begin, std::int64_t end) {
    const float* const values = all.data() + begin;
    partial[begin / kRatingChunk] = sum_in_lanes(
        0, end - begin, [values, term](std::int64_t i) { return term(double{values[i]}); });
  });
  double total = 0;
  for (const double sum : partial) total += sum;
  return total;
}

// The same over the values of all ranks, of which `rest` ends the last block of the own ones.
template <class Term>
double sum_over_ranks(View<const float> own, View<const float> rest, const PartOffsets& parts,
                      Communicator& ranks, ThreadTeam& team, const Term& term) {
  const BlockRange blocks = blocks_of(parts, ranks.rank(), kRatingChunk);
  const std::int64_t skipped = blocks.begin - parts[ranks.rank()];
  std::vector<double> partial((blocks.size() + kRatingChunk - 1) / kRatingChunk);
  team.for_chunks(blocks.size(), kRatingChunk, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = skipped + begin;
    const auto in_lanes = [&](const float* values) {
      return sum_in_lanes(0, end - begin, [&](std::int64_t i) { return term(double{values[i]}); });
    };
    double& sum = partial[begin / kRatingChunk];
    if (skipped + end <= own.size()) {
      sum = in_lanes(own.data() + first);
      return;
    }
    AlignedVector<float> block(own.begin() + first, own.end());
    block.insert(block.end(), rest.begin(), rest.end());
    sum = in_lanes(block.data());
  });
  double total = 0;
  for (const double sum : sums_of_all(partial, parts, kRatingChunk, ranks)) total += sum;
  return total;
}

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
  const auto values = ratings.values();
  if (values.empty()) return 0;
  const double sum = sum_in_chunks(values, team, [](double value) { return value; });
  return sum / static_cast<double>(values.size());
}

double mean_rating(const Ratings& ratings) {
  ThreadTeam single(1);
  return mean_rating(ratings, single);
}

MeanAndDeviation mean_and_deviation(const Ratings& ratings, ThreadTeam& team) {
  const auto values = ratings.values();
  if (values.empty()) return {};
  const double mean = mean_rating(ratings, team);
  const double squares = sum_in_chunks(values, team, [mean](double value) {
    const double off = value - mean;
    return off * off;
  });
  return {mean, std::sqrt(squares / static_cast<double>(values.size()))};
}

namespace {

// Who has ratings, of offsets that are known.
void find_known(RatingFacts& facts, View<const std::int64_t> user_offsets, ThreadTeam& team) {
  const auto count_rows = [&](std::vector<std::uint8_t>& known, View<const std::int64_t> offsets) {
    const std::int64_t rows = std::max<std::int64_t>(0, offsets.size() - 1);
    return flag_rows(known, rows, team,
                     [&](std::int64_t row) { return offsets[row] < offsets[row + 1]; });
  };
  facts.rating_users = count_rows(facts.known_user, user_offsets);
  facts.rated_items = count_rows(facts.known_item, facts.item_offsets);
}

}  // namespace

RatingFacts facts_of(const Ratings& ratings, ThreadTeam& team) {
  RatingFacts facts;
  const MeanAndDeviation level = mean_and_deviation(ratings, team);
  facts.mean = level.mean;
  facts.deviation = level.deviation;
  facts.item_offsets = key_offsets(ratings.items(), ratings.n_items(), team);
  find_known(facts, ratings.user_offsets(), team);
  return facts;
}

RatingFacts facts_of(const RatingSlice& slice, Communicator& ranks, ThreadTeam& team) {
  RatingFacts facts;
  facts.item_offsets = slice.item_offsets;
  find_known(facts, slice.user_offsets, team);
  const auto nnz = static_cast<double>(slice.nnz());
  if (slice.nnz() == 0) return facts;
  const PartOffsets parts = slice.rating_parts();
  const AlignedVector<float> rest = rest_of_blocks(slice.own_values, parts, kRatingChunk, ranks);
  const auto sum = [&](const auto& term) {
    return sum_over_ranks(slice.own_values, rest, parts, ranks, team, term);
  };
  facts.mean = sum([](double value) { return value; }) / nnz;
  facts.deviation = std::sqrt(sum([mean = facts.mean](double value) {
                                const double off = value - mean;
                                return off * off;
                              }) /
                              nnz);
  return facts;
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
