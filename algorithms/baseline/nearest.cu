// item_knn_device, rp3beta_device and user_knn_device: the nearest of each object by a thread
// block, with the sums of similarity.hpp in their order, so bit for bit the same. All else by
// threads.
#include <algorithm>

#include "algorithms/baseline/similarity.hpp"
#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/registry.hpp"

namespace mf::baseline {
namespace {

constexpr int kThreads = 128;
// info.cpp counts both.
constexpr std::int64_t kScratchBytes = std::int64_t{1} << 29;
constexpr std::int64_t kFoundBytes = std::int64_t{1} << 26;  // of the objects of a launch

// Larger is nearer: the larger similarity, of equal ones the first object. Similarities are not
// negative, so their bits ascend with them and the top one is 0. No two keys are equal.
using Key = unsigned long long;

struct Input {
  Rule rule;
  std::int64_t objects;
  const std::int64_t *feature_offsets, *object_offsets;
  const std::int32_t *features_of, *objects_of;
  const double *squares, *mine, *theirs;  // of features, and what objects have in D
  const float* weights;                   // of objects
};

// The objects with a feature in common with j, in the place of their keys; returns how many. Only
// threads of one list add at once, and it has an object once: no atomics, and one order of sums.
__device__ int add_products(const Input& in, std::int64_t j, double* sums, Key* keys) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  for (auto f = in.feature_offsets[j]; f < in.feature_offsets[j + 1]; ++f) {
    const auto feature = in.features_of[f];
    const double square = in.squares[feature];
    if (!(square > 0)) continue;
    const auto end = in.object_offsets[feature + 1];
    for (auto at = in.object_offsets[feature] + threadIdx.x; at < end; at += kThreads) {
      const auto i = in.objects_of[at];
      if (i == j) continue;
      if (sums[i] == 0) keys[atomicAdd(&count, 1)] = static_cast<Key>(i);
      sums[i] += square;
    }
    __syncthreads();
  }
  return count;
}

// The k-th largest of more than k keys, or its upper bits if these are enough.
__device__ Key kth_largest(const Key* keys, int count, int k) {
  __shared__ int above[63];
  if (threadIdx.x < 63) above[threadIdx.x] = 0;
  __syncthreads();
  Key kth = 0;
  for (int bit = 62; bit >= 0; --bit) {
    const Key trial = kth | Key{1} << bit;
    int mine = 0;
    for (int at = threadIdx.x; at < count; at += kThreads) mine += keys[at] >= trial ? 1 : 0;
    atomicAdd(&above[bit], mine);
    __syncthreads();
    if (above[bit] >= k) kth = trial;
    if (above[bit] == k) break;
  }
  return kth;
}

// Objects first to first + rows - 1: `width` places of `found` and a count for each. A thread
// block has n sums, 0 between objects, and as many keys; a thread makes and reads the same keys.
__global__ void __launch_bounds__(kThreads)
    find_kernel(const Input in, std::int64_t first, std::int64_t rows, int width, double* all_sums,
                Key* all_keys, Neighbour* found, int* counts) {
  __shared__ int kept;
  double* sums = all_sums + blockIdx.x * in.objects;
  Key* keys = all_keys + blockIdx.x * in.objects;
  for (std::int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const auto j = first + r;
    const int count = add_products(in, j, sums, keys);
    for (int at = threadIdx.x; at < count; at += kThreads) {
      const auto i = static_cast<std::uint32_t>(keys[at]);
      const double p =
          sums[i] * static_cast<double>(in.weights[j]) * static_cast<double>(in.weights[i]);
      keys[at] = Key{__float_as_uint(in.rule.similarity(p, in.mine[j], in.theirs[i]))} << 32 | ~i;
      sums[i] = 0;
    }
    if (threadIdx.x == 0) kept = 0;
    __syncthreads();
    const Key least = count > width ? kth_largest(keys, count, width) : 0;
    for (int at = threadIdx.x; at < count; at += kThreads) {
      if (keys[at] < least) continue;
      const auto i = static_cast<std::int32_t>(~static_cast<std::uint32_t>(keys[at]));
      const auto similarity = static_cast<std::uint32_t>(keys[at] >> 32);
      found[r * width + atomicAdd(&kept, 1)] = {i, __uint_as_float(similarity)};
    }
    if (threadIdx.x == 0) counts[r] = min(count, width);
  }
}

template <class T>
auto to_device(const T& list, cudaStream_t stream) {
  return cuda::upload(View<const typename T::value_type>(list), stream);
}

class OnDevice : public Similarity {
 public:
  OnDevice(const Ratings& train, Side side, const Rule& rule, const Context& context)
      : Similarity(train, side, rule, context),
        stream_(context.stream),
        n_(products().n_objects()),
        blocks_(std::clamp<std::int64_t>(kScratchBytes / (16 * n_), 1,
                                         cuda::resident_blocks(find_kernel, kThreads))),
        sums_(cuda::zeros<double>(blocks_ * n_, stream_)),
        keys_(blocks_ * n_) {
    const PhaseScope phase(context.phases, "transfer");
    feature_offsets_ = to_device(products().features().offsets, stream_);
    features_of_ = to_device(products().features().of, stream_);
    object_offsets_ = to_device(products().objects().offsets, stream_);
    objects_of_ = to_device(products().objects().of, stream_);
  }

  std::vector<std::vector<Neighbour>> find_nearest(
      std::int64_t k, Of of, ThreadTeam& team, const std::function<bool()>& stop) const override {
    const auto squares = to_device(squares_, stream_);
    const auto weights = to_device(object_weights_, stream_);
    const auto mine = to_device(parts(of), stream_);
    const auto theirs = to_device(parts(of == Of::rows ? Of::columns : Of::rows), stream_);
    const Input in(rule_, n_, feature_offsets_.data(), object_offsets_.data(), features_of_.data(),
                   objects_of_.data(), squares.data(), mine.data(), theirs.data(), weights.data());
    const auto width = static_cast<int>(std::clamp<std::int64_t>(n_ - 1, 1, k));
    const auto rows = std::clamp<std::int64_t>(kFoundBytes / (8 * width), 1, n_);
    cuda::DeviceBuffer<Neighbour> found(rows * width);
    cuda::DeviceBuffer<int> counts(rows);
    AlignedVector<Neighbour> host_found(rows * width);
    AlignedVector<int> host_counts(rows);
    std::vector<std::vector<Neighbour>> nearest(n_);
    for (std::int64_t first = 0; first < n_ && !(stop && stop()); first += rows) {
      const auto now = std::min(rows, n_ - first);
      find_kernel<<<static_cast<unsigned>(std::min(blocks_, now)), kThreads, 0, stream_>>>(
          in, first, now, width, sums_.data(), keys_.data(), found.data(), counts.data());
      MF_CUDA_LAUNCHED("find nearest");
      cuda::download(View<int>(host_counts.data(), now), counts.data(), stream_);
      cuda::download(View<Neighbour>(host_found.data(), now * width), found.data(), stream_);
      team.for_each(now, 64, [&](std::int64_t r) {
        const Neighbour* of_row = host_found.data() + r * width;
        nearest[first + r].assign(of_row, of_row + host_counts[r]);
        // From the device in any order; the sum of a row of W has one.
        std::ranges::sort(nearest[first + r], {}, &Neighbour::object);
      });
    }
    return nearest;
  }

 private:
  cudaStream_t stream_;
  std::int64_t n_, blocks_;
  mutable cuda::DeviceBuffer<double> sums_;
  mutable cuda::DeviceBuffer<Key> keys_;
  cuda::DeviceBuffer<std::int64_t> feature_offsets_, object_offsets_;
  cuda::DeviceBuffer<std::int32_t> features_of_, objects_of_;
};

constexpr MakeSimilarity kDevice = make_similarity<OnDevice>;
const RegisterFactory kItemKnn("item_knn_device", item_neighbours(kDevice, knn_rule, "k"));
const RegisterFactory kRp3beta("rp3beta_device", item_neighbours(kDevice, walk_rule, "neighbors"));
const RegisterFactory kUserKnn("user_knn_device", user_neighbours(kDevice));

}  // namespace
}  // namespace mf::baseline
