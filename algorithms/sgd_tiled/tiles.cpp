#include "algorithms/sgd_tiled/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "algorithms/sgd_tiled/rule.hpp"
#include "base/rng.hpp"

namespace mf::sgd_tiled {
namespace {

constexpr std::uint64_t kTileSalt = 0x74696c6573ULL;
constexpr std::uint64_t kOrderSalt = 0x6f72646572ULL;

template <class T>
void shuffle(T* first, std::int64_t count, Rng& rng) {
  for (std::int64_t i = count; i > 1; --i) {
    std::swap(first[i - 1], first[rng.below(static_cast<std::uint64_t>(i))]);
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
      cut_user(offsets[u], offsets[u + 1], u, longest, visit);
    }
  };
  const auto slot = [&](const Chunk& chunk) { return longest - chunk.count; };
  starts.assign(longest + 1, 0);
  each([&](const Chunk& chunk) { ++starts[slot(chunk) + 1]; });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  AlignedVector<Chunk> chunks(starts.back());
  auto next = starts;
  each([&](const Chunk& chunk) { chunks[next[slot(chunk)]++] = chunk; });
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
      Rng rng(seed ^ kTileSalt, static_cast<std::uint64_t>(length));
      shuffle(sorted.data() + starts[length], starts[length + 1] - starts[length], rng);
    }
  });
  Tiles tiles;
  tiles.bundle_size = bundle_size;
  const std::int64_t bundles = (std::ssize(sorted) + bundle_size - 1) / bundle_size;
  sorted.resize(bundles * bundle_size, Chunk{0, 0, 0});

  std::vector<std::int64_t> order(bundles);
  std::iota(order.begin(), order.end(), 0);
  Rng rng(seed ^ kTileSalt, static_cast<std::uint64_t>(longest));
  shuffle(order.data(), bundles, rng);
  tiles.chunks.resize(std::ssize(sorted));
  team.for_chunks(bundles, 4096, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      std::copy_n(sorted.begin() + order[b] * bundle_size, bundle_size,
                  tiles.chunks.begin() + b * bundle_size);
    }
  });
  return tiles;
}

Thinning thin_items(View<const std::int32_t> items, std::int32_t n_items, std::int64_t above,
                    ThreadTeam& team) {
  Thinning thinning;
  auto& exponents = thinning.exponents;
  exponents.assign(n_items, std::uint8_t{0});
  if (above <= 0 || items.empty()) return thinning;
  std::vector<std::vector<std::int64_t>> counts(team.size());
  team.run([&](int thread) {
    auto& own = counts[thread];
    own.assign(n_items, 0);
    const std::int64_t begin = items.size() * thread / team.size();
    const std::int64_t end = items.size() * (thread + 1) / team.size();
    for (const std::int32_t item : items.part(begin, end)) ++own[item];
  });
  double writes = 0;
  for (std::int32_t i = 0; i < n_items; ++i) {
    std::int64_t count = 0;
    for (const auto& own : counts) count += own[i];
    while (count >> exponents[i] > above && exponents[i] < kMaxExponent) ++exponents[i];
    writes += std::ldexp(static_cast<double>(count), -exponents[i]);
  }
  thinning.writes_made = writes / static_cast<double>(items.size());
  return thinning;
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
