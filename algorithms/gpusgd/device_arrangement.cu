// A sort by block (and group) of ratings as they lie; starts of blocks are searched for; a group
// begins if the key of a rating differs from the one before.
#include "algorithms/gpusgd/device_arrangement.hpp"

#include <vector>

#include "algorithms/core/cuda/ratings/sort_ratings.cuh"

namespace mf::gpusgd {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffff;

struct SlotKey {
  Cut cut;

  __device__ std::uint64_t operator()(std::int32_t user, std::int32_t item) const {
    return static_cast<std::uint64_t>(slot_of_rating(cut, user, item));
  }
};

// For square blocks.
struct GroupKey {
  Cut cut;

  __device__ std::uint64_t operator()(std::int32_t user, std::int32_t item) const {
    const auto side = static_cast<std::uint64_t>(cut.rows);
    return static_cast<std::uint64_t>(slot_of_rating(cut, user, item)) * side +
           static_cast<std::uint64_t>(group_of(user, item, cut.rows));
  }
};

template <class KeyOf>
struct KeyAt {
  KeyOf key_of;
  const Rating* ratings;

  __device__ std::uint64_t operator()(std::int64_t i) const {
    return key_of(ratings[i].user, ratings[i].item);
  }
};

struct PutWhole {
  Rating* ratings;

  __device__ void operator()(std::int64_t i, const Rating& rating) const { ratings[i] = rating; }
};

// heads[i] = whether a group begins at i; one element more than ratings.
struct MarkHead {
  KeyAt<GroupKey> key;
  std::int64_t nnz;
  std::uint32_t* heads;

  __device__ void operator()(std::int64_t i) const {
    heads[i] = i < nnz && (i == 0 || key(i) != key(i - 1)) ? 1 : 0;
  }
};

// From sums over the heads before.
struct PutBegin {
  const std::uint32_t* before;
  std::int64_t nnz;
  std::int64_t* begins;

  __device__ void operator()(std::int64_t i) const {
    if (i == nnz || before[i + 1] != before[i]) begins[before[i]] = i;
  }
};

// Replaces a rating by the number of its group.
struct ToGroup {
  const std::uint32_t* before;
  std::int64_t* first;

  __device__ void operator()(std::int64_t slot) const { first[slot] = before[first[slot]]; }
};

// How the steps of a block are counted.
struct StepRule {
  bool grouped;
  std::int64_t of_rating;  // Scheme::tree
  std::int64_t threads;    // Scheme::grouped
};

struct TagCounts {
  unsigned long long blank, steps, longest;
};

// A thread block a tag, a warp a matrix block. `first`: its ratings, or its groups.
__global__ void __launch_bounds__(kThreads)
    count_kernel(const StepRule rule, std::int64_t l, const std::int64_t* first,
                 const std::int64_t* begins, TagCounts* counts) {
  __shared__ TagCounts own;
  if (threadIdx.x == 0) own = {0, 0, 0};
  __syncthreads();
  const std::int64_t tag = blockIdx.x;
  for (std::int64_t row = threadIdx.x / 32; row < l; row += kThreads / 32) {
    const std::int64_t begin = first[tag * l + row];
    const std::int64_t end = first[tag * l + row + 1];
    std::int64_t steps = rule.grouped ? 0 : (end - begin) * rule.of_rating;
    if (rule.grouped) {
      for (std::int64_t g = begin + threadIdx.x % 32; g < end; g += 32) {
        steps += steps_of_group(begins[g + 1] - begins[g], rule.threads);
      }
      for (int lane = 16; lane > 0; lane /= 2) steps += __shfl_xor_sync(kAll, steps, lane);
    }
    if (threadIdx.x % 32 != 0) continue;
    const auto number = static_cast<unsigned long long>(steps);
    if (steps == 0) atomicAdd(&own.blank, 1ULL);
    atomicAdd(&own.steps, number);
    atomicMax(&own.longest, number);
  }
  __syncthreads();
  if (threadIdx.x == 0) counts[tag] = own;
}

BlockCounts count_blocks(const Settings& settings, const DeviceArrangement& made,
                         cudaStream_t stream) {
  const bool grouped = settings.scheme == Scheme::grouped;
  const std::int64_t l = made.cut.blocks;
  const StepRule rule = {grouped, steps_of_tree(settings.factors), settings.threads_per_block};
  cuda::StreamBuffer<TagCounts> device(l, stream);
  count_kernel<<<static_cast<unsigned>(l), kThreads, 0, stream>>>(
      rule, l, grouped ? made.first_group.data() : made.offsets.data(), made.group_begins.data(),
      device.data());
  MF_CUDA_LAUNCHED("gpusgd counts");
  std::vector<TagCounts> tags(l);
  cuda::download(View<TagCounts>(tags), device.data(), stream);
  BlockCounts counts;
  for (const TagCounts& tag : tags) {
    counts.blank += static_cast<std::int64_t>(tag.blank);
    counts.steps += static_cast<std::int64_t>(tag.steps);
    counts.serial += static_cast<std::int64_t>(tag.longest);
  }
  return counts;
}

template <class Key, class KeyOf>
cuda::DeviceBuffer<Rating> sorted(cuda::DeviceRatings& ratings, const KeyOf& key_of,
                                  std::int64_t keys, cudaStream_t stream) {
  cuda::RatingSorter<Key> sorter(ratings.rows(), key_of, cuda::bits_of(keys), cuda::AsTheyLie(),
                                 stream);
  cuda::DeviceBuffer<Rating> made(ratings.nnz());
  sorter.copy(PutWhole{made.data()});
  return made;
}

void find_groups(DeviceArrangement& made, cudaStream_t stream) {
  const auto nnz = static_cast<std::int64_t>(made.ratings.size());
  const std::int64_t slots = std::int64_t{made.cut.blocks} * made.cut.blocks;
  const KeyAt<GroupKey> key = {{made.cut}, made.ratings.data()};
  cuda::StreamBuffer<std::uint32_t> before(nnz + 1, stream);
  cuda::for_each_index(nnz + 1, MarkHead{key, nnz, before.data()}, "gpusgd heads", stream);
  cuda::exclusive_sums(before.data(), before.data(), nnz + 1, stream);
  made.first_group = cuda::DeviceBuffer<std::int64_t>(slots + 1);
  cuda::find_begins(key, nnz, made.cut.rows, slots, made.first_group.data(), stream);
  cuda::for_each_index(slots + 1, ToGroup{before.data(), made.first_group.data()},
                       "gpusgd first groups", stream);
  std::uint32_t groups = 0;
  cuda::download(View<std::uint32_t>(&groups, 1), before.data() + nnz, stream);
  made.group_begins = cuda::DeviceBuffer<std::int64_t>(std::int64_t{groups} + 1);
  cuda::for_each_index(nnz + 1, PutBegin{before.data(), nnz, made.group_begins.data()},
                       "gpusgd groups", stream);
}

}  // namespace

DeviceArrangement arrange_on_device(const Settings& settings, cuda::DeviceRatings& ratings,
                                    cudaStream_t stream) {
  const bool grouped = settings.scheme == Scheme::grouped;
  const auto cut_of = grouped ? square_cut : rectangular_cut;
  DeviceArrangement made;
  made.cut = cut_of(ratings.n_users(), ratings.n_items(), settings.blocks);
  const std::int64_t slots = std::int64_t{made.cut.blocks} * made.cut.blocks;
  const SlotKey slot_of = {made.cut};
  if (grouped) {
    made.ratings =
        sorted<std::uint64_t>(ratings, GroupKey{made.cut}, slots * made.cut.rows, stream);
  } else {
    made.ratings = sorted<std::uint32_t>(ratings, slot_of, slots, stream);
  }
  ratings.release_rows();
  if (grouped) {
    find_groups(made, stream);
  } else {
    made.offsets = cuda::DeviceBuffer<std::int64_t>(slots + 1);
    cuda::find_begins(KeyAt<SlotKey>{slot_of, made.ratings.data()}, ratings.nnz(), 1, slots,
                      made.offsets.data(), stream);
  }
  made.counts = count_blocks(settings, made, stream);
  return made;
}

}  // namespace mf::gpusgd
