#include "algorithms/sgd_tiled/tiles.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "algorithms/sgd_tiled/rule.hpp"
#include "base/rng.hpp"

namespace mf::sgd_tiled {
namespace {

constexpr std::uint64_t kTileSalt = 0x74696c6573ULL;
constexpr std::uint64_t kOrderSalt = 0x6f72646572ULL;

template <class Random>
void shuffle(Chunk* first, std::int64_t count, Random& rng) {
  for (std::int64_t i = count - 1; i > 0; --i) {
    std::swap(first[i],
              first[static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(i) + 1))]);
  }
}

// Calls visit(begin, user, count) for the chunks of a user: as equal as can be.
template <class Visit>
void cut_user(std::int64_t begin, std::int64_t end, std::int32_t user, int longest, Visit&& visit) {
  const std::int64_t count = end - begin;
  const std::int64_t pieces = (count + longest - 1) / longest;
  for (std::int64_t k = 0; k < pieces; ++k) {
    const std::int64_t from = count * k / pieces;
    const std::int64_t to = count * (k + 1) / pieces;
    visit(Chunk{begin + from, user, static_cast<std::int32_t>(to - from)});
  }
}

// Chunks sorted by length, longest first.
AlignedVector<Chunk> sorted_chunks(View<const std::int64_t> offsets, int longest,
                                   std::vector<std::int64_t>& starts) {
  const auto users = static_cast<std::int32_t>(offsets.size()) - 1;
  const auto each = [&](auto&& visit) {
    for (std::int32_t u = 0; u < users; ++u) {
      const auto k = static_cast<std::size_t>(u);
      cut_user(offsets[k], offsets[k + 1], u, longest, visit);
    }
  };
  const auto slot = [&](const Chunk& chunk) {
    return static_cast<std::size_t>(longest - chunk.count);
  };
  starts.assign(static_cast<std::size_t>(longest) + 1, 0);
  each([&](const Chunk& chunk) { ++starts[slot(chunk) + 1]; });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  AlignedVector<Chunk> chunks(static_cast<std::size_t>(starts.back()));
  auto next = starts;
  each([&](const Chunk& chunk) { chunks[static_cast<std::size_t>(next[slot(chunk)]++)] = chunk; });
  return chunks;
}

}  // namespace

Tiles make_tiles(View<const std::int64_t> user_offsets, int longest, int bundle_size,
                 std::uint64_t seed, ThreadTeam& team) {
  std::vector<std::int64_t> starts;
  AlignedVector<Chunk> sorted = sorted_chunks(user_offsets, longest, starts);
  // Users in random order within a length, so that the chunks of a user do not run together.
  team.for_chunks(longest, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t length = begin; length < end; ++length) {
      const auto k = static_cast<std::size_t>(length);
      Rng rng(seed ^ kTileSalt, k);
      shuffle(sorted.data() + starts[k], starts[k + 1] - starts[k], rng);
    }
  });
  Tiles tiles;
  tiles.bundle_size = bundle_size;
  const auto size = static_cast<std::int64_t>(bundle_size);
  const std::int64_t bundles = (static_cast<std::int64_t>(sorted.size()) + size - 1) / size;
  sorted.resize(bundles * size, Chunk{0, 0, 0});

  std::vector<std::int64_t> order(static_cast<std::size_t>(bundles));
  std::iota(order.begin(), order.end(), 0);
  Rng rng(seed ^ kTileSalt, static_cast<std::uint64_t>(longest));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  tiles.chunks.resize(sorted.size());
  team.for_chunks(bundles, 4096, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      std::copy_n(sorted.begin() + order[static_cast<std::size_t>(b)] * size, size,
                  tiles.chunks.begin() + b * size);
    }
  });
  return tiles;
}

AlignedVector<std::uint8_t> item_exponents(View<const std::int32_t> items, std::int32_t n_items,
                                           std::int64_t above, ThreadTeam& team) {
  AlignedVector<std::uint8_t> exponents(static_cast<std::size_t>(n_items), std::uint8_t{0});
  if (above <= 0 || items.empty()) return exponents;
  const auto n = static_cast<std::size_t>(n_items);
  std::vector<std::vector<std::int64_t>> counts(static_cast<std::size_t>(team.size()));
  const auto total = static_cast<std::int64_t>(items.size());
  team.run([&](int thread) {
    auto& own = counts[static_cast<std::size_t>(thread)];
    own.assign(n, 0);
    const std::int64_t begin = total * thread / team.size();
    const std::int64_t end = total * (thread + 1) / team.size();
    for (const std::int32_t item : items.part(begin, end)) {
      ++own[static_cast<std::size_t>(item)];
    }
  });
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t count = 0;
    for (const auto& own : counts) count += own[i];
    while (count >> exponents[i] > above && exponents[i] < kMaxExponent) {
      ++exponents[i];
    }
  }
  return exponents;
}

Order epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
  if (count <= 1) return {};
  Rng rng(seed ^ kOrderSalt, static_cast<std::uint64_t>(epoch));
  Order order;
  order.shift = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(count)));
  // Far from 1 and from count, so that neighbours do not stay neighbours.
  const auto half = static_cast<std::uint64_t>(count) / 2 + 1;
  order.multiplier = static_cast<std::int64_t>(half / 2 + rng.below(half));
  order.multiplier = std::clamp<std::int64_t>(order.multiplier, 1, count - 1);
  while (std::gcd(order.multiplier, count) != 1) ++order.multiplier;
  return order;
}

}  // namespace mf::sgd_tiled
