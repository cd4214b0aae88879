#include "algorithms/sgd_cpu/shuffle.hpp"

#include <bit>

namespace mf::sgd_cpu {
namespace {

constexpr std::int64_t kBucketElements = 32768;  // of 12 bytes: 384 KiB, half a second-level cache
constexpr std::int64_t kMaxBuckets = 4096;
constexpr std::int64_t kMinChunk = 65536;
constexpr std::int64_t kMaxChunks = 1024;

}  // namespace

ShufflePlan plan_shuffle(std::int64_t count) {
  ShufflePlan plan;
  plan.count = count;
  plan.chunk = std::max(kMinChunk, (count + kMaxChunks - 1) / kMaxChunks);
  plan.chunks = (count + plan.chunk - 1) / plan.chunk;
  const std::int64_t wanted = std::clamp<std::int64_t>(count / kBucketElements, 1, kMaxBuckets);
  plan.buckets = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted)));
  return plan;
}

std::vector<std::int64_t> bucket_offsets(const ShufflePlan& plan, std::uint64_t seed,
                                         std::uint64_t stream, ThreadTeam& team) {
  std::vector<std::int64_t> offsets((plan.chunks + 1) * plan.buckets);
  team.for_each(plan.chunks, 1, [&](std::int64_t chunk) {
    std::int64_t* counts = offsets.data() + chunk * plan.buckets;
    BucketDraws draws(plan, seed, stream, chunk);
    const std::int64_t stop = std::min(plan.count, (chunk + 1) * plan.chunk);
    for (std::int64_t i = chunk * plan.chunk; i < stop; ++i) ++counts[draws.next()];
  });
  std::int64_t total = 0;
  for (std::int64_t bucket = 0; bucket < plan.buckets; ++bucket) {
    for (std::int64_t chunk = 0; chunk < plan.chunks; ++chunk) {
      auto& cell = offsets[chunk * plan.buckets + bucket];
      total += std::exchange(cell, total);
    }
    offsets[plan.chunks * plan.buckets + bucket] = total;
  }
  return offsets;
}

}  // namespace mf::sgd_cpu
