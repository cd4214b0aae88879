#include "harness/evaluate/device/device_evaluator.hpp"

#include <algorithm>
#include <list>
#include <vector>

#include "algorithms/core/cuda/memory.hpp"
#include "base/error.hpp"
#include "harness/evaluate/device/loss_kernels.cuh"

namespace mf {
namespace {

using cuda::DeviceBuffer;
using cuda::PinnedBuffer;

// The loss kernel of cu2rec's paper: a thread per user writes the error of each of the user's
// ratings; the factors are read one after another.
__global__ void __launch_bounds__(kLossThreads)
    user_errors(const __grid_constant__ LossArgs args,
                const std::int64_t* __restrict__ user_offsets, std::int32_t n_users,
                float* __restrict__ errors) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kLossThreads + threadIdx.x;
  if (thread >= n_users) return;
  const auto user = static_cast<std::int32_t>(thread);
  const float* p = args.model.p + user * args.model.p_stride;
  const std::int64_t end = user_offsets[user + 1];
  for (std::int64_t i = user_offsets[user]; i < end; ++i) {
    const std::int32_t item = args.part.items[i];
    const float* q = args.model.q + item * args.model.q_stride;
    float dot = 0;
    for (int k = 0; k < args.model.factors; ++k) dot = fmaf(p[k], q[k], dot);
    const RatingSides sides = load_sides(args, user, item);
    errors[i] = static_cast<float>(rating_error(args.rule, sides, args.part.values[i], dot));
  }
}

using FusedKernel = void (*)(LossArgs, std::int64_t, LossSums*);

template <int kLanes, int kVectors, bool kTight = true>
constexpr FusedKernel kAligned = fused_loss<RowLayout<4, kLanes, kVectors, kTight>>;
template <int kLanes, int kVectors>
constexpr FusedKernel kUnaligned = fused_loss<RowLayout<1, kLanes, kVectors, false>>;

FusedKernel aligned_kernel(int factors) {
  static constexpr FusedKernel kSmall[] = {kAligned<8, 1>, kAligned<8, 2>, kAligned<8, 3>,
                                           kAligned<8, 4>, kAligned<8, 5>, kAligned<8, 6>,
                                           kAligned<8, 7>, kAligned<8, 8>};
  if (factors <= 256) return kSmall[(factors + 31) / 32 - 1];
  if (factors <= 512) return kAligned<16, 8, false>;
  if (factors <= 768) return kAligned<32, 6, false>;
  return factors <= 1024 ? kAligned<32, 8, false> : long_row_loss<>;
}

FusedKernel unaligned_kernel(int factors) {
  if (factors <= 32) return kUnaligned<8, 4>;
  if (factors <= 64) return kUnaligned<8, 8>;
  if (factors <= 128) return kUnaligned<8, 16>;
  if (factors <= 256) return kUnaligned<32, 8>;
  if (factors <= 512) return kUnaligned<32, 16>;
  return factors <= 1024 ? kUnaligned<32, 32> : long_row_loss<>;
}

std::vector<std::uint32_t> bits_of(View<const std::uint8_t> flags) {
  std::vector<std::uint32_t> bits((flags.size() + 31) / 32);
  for (std::int64_t i = 0; i < flags.size(); ++i) {
    bits[i / 32] |= std::uint32_t{flags[i] != 0} << (i % 32);
  }
  return bits;
}

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kLossThreads - 1) / kLossThreads);
}

struct UploadedPart {
  const float* key = nullptr;
  std::int64_t count = 0;
  DeviceBuffer<std::int32_t> users;
  DeviceBuffer<std::int32_t> items;
  DeviceBuffer<float> values;
  DeviceBuffer<std::int64_t> user_offsets;  // only for the paper's kernel
  DeviceBuffer<float> means;                // of the predictions of a sampler's draws
  std::int64_t taken = 0;                   // draws in them
  std::int64_t last = 0;                    // which was taken last

  DevicePart view() const { return {users.data(), items.data(), values.data(), count}; }
};

}  // namespace

struct DeviceEvaluator::Impl {
  DeviceBuffer<std::uint32_t> known_users;
  DeviceBuffer<std::uint32_t> known_items;
  std::int32_t n_users = 0;
  std::int32_t n_items = 0;
  std::list<UploadedPart> parts;
  DeviceBuffer<float> errors;  // of the paper's kernel
  DeviceBuffer<LossSums> partial;
  PinnedBuffer<LossSums> partial_host;
  std::int64_t n_partial = 0;

  std::list<UploadedPart>::iterator find(const Ratings& part) {
    return std::find_if(parts.begin(), parts.end(), [&](const UploadedPart& p) {
      return p.key == part.values().data() && p.count == part.nnz();
    });
  }

  UploadedPart& find_or_upload(const Ratings& part, cudaStream_t stream) {
    const auto known = find(part);
    if (known != parts.end()) return *known;
    UploadedPart uploaded;
    uploaded.key = part.values().data();
    uploaded.count = part.nnz();
    uploaded.users = cuda::upload(part.users(), stream);
    uploaded.items = cuda::upload(part.items(), stream);
    uploaded.values = cuda::upload(part.values(), stream);
    return parts.emplace_back(std::move(uploaded));
  }

  void reserve_partial(std::int64_t count) {
    n_partial = count;
    if (std::ssize(partial) >= count) return;
    partial = DeviceBuffer<LossSums>(count);
    partial_host = PinnedBuffer<LossSums>(count);
  }

  void launch_fused(const LossArgs& args, cudaStream_t stream) {
    const std::int64_t chunk = loss_chunk(args.part.count);
    const auto blocks = static_cast<unsigned>(loss_blocks(args.part.count));
    reserve_partial(blocks);
    const FusedKernel kernel = has_aligned_rows(args.model) ? aligned_kernel(args.model.factors)
                                                            : unaligned_kernel(args.model.factors);
    kernel<<<blocks, kLossThreads, 0, stream>>>(args, chunk, partial.data());
    MF_CUDA_LAUNCHED("fused_loss");
  }

  // A warp a rating: a part of a few million takes a fraction of a draw.
  void launch_draw(LossArgs args, UploadedPart& uploaded, cudaStream_t stream) {
    if (uploaded.means.empty()) uploaded.means = cuda::zeros<float>(uploaded.count, stream);
    args.means = uploaded.means.data();
    if (uploaded.last != args.model.draw) {
      uploaded.last = args.model.draw;
      args.share = 1 / static_cast<float>(++uploaded.taken);
    }
    const auto blocks = static_cast<unsigned>(loss_blocks(args.part.count));
    reserve_partial(blocks);
    long_row_loss<DrawTerm>
        <<<blocks, kLossThreads, 0, stream>>>(args, loss_chunk(args.part.count), partial.data());
    MF_CUDA_LAUNCHED("long_row_loss");
  }

  void launch_thread_per_user(const LossArgs& args, const Ratings& part, UploadedPart& uploaded,
                              cudaStream_t stream) {
    constexpr int kBlock = 256;
    if (uploaded.user_offsets.empty()) {
      uploaded.user_offsets = cuda::upload(part.user_offsets(), stream);
    }
    if (std::ssize(errors) < part.nnz()) errors = DeviceBuffer<float>(part.nnz());
    user_errors<<<blocks_for(part.n_users()), kLossThreads, 0, stream>>>(
        args, uploaded.user_offsets.data(), part.n_users(), errors.data());
    MF_CUDA_LAUNCHED("user_errors");
    reserve_partial(kReductionBlocks<kBlock>);
    sum_errors<kBlock><<<kReductionBlocks<kBlock>, kBlock, 0, stream>>>(errors.data(), part.nnz(),
                                                                        partial.data());
    MF_CUDA_LAUNCHED("sum_errors");
  }
};

DeviceEvaluator::DeviceEvaluator(View<const std::uint8_t> known_user,
                                 View<const std::uint8_t> known_item, DeviceStream stream)
    : impl_(std::make_unique<Impl>()) {
  const auto users = bits_of(known_user);
  const auto items = bits_of(known_item);
  impl_->known_users = cuda::upload(View<const std::uint32_t>(users), stream);
  impl_->known_items = cuda::upload(View<const std::uint32_t>(items), stream);
  impl_->n_users = static_cast<std::int32_t>(known_user.size());
  impl_->n_items = static_cast<std::int32_t>(known_item.size());
}
DeviceEvaluator::~DeviceEvaluator() = default;

void DeviceEvaluator::launch(const FactorView& model, const PredictionRule& rule,
                             const Ratings& part, DeviceStream stream, LossMethod method) {
  // Kernels that read beyond an array would take the whole process with them.
  if (part.n_users() > std::min(model.n_users, impl_->n_users) ||
      part.n_items() > std::min(model.n_items, impl_->n_items)) {
    fail(ErrorKind::data,
         "ratings of {} users and {} items, expected at most the {} and {} of the model and the {} "
         "and {} of the training part",
         part.n_users(), part.n_items(), model.n_users, model.n_items, impl_->n_users,
         impl_->n_items);
  }
  UploadedPart& uploaded = impl_->find_or_upload(part, stream);
  LossArgs args;
  args.model = model;
  args.part = uploaded.view();
  args.known_users = impl_->known_users.data();
  args.known_items = impl_->known_items.data();
  args.rule = rule;
  if (model.draw > 0) {
    impl_->launch_draw(args, uploaded, stream);
  } else if (method == LossMethod::fused) {
    impl_->launch_fused(args, stream);
  } else {
    impl_->launch_thread_per_user(args, part, uploaded, stream);
  }
}

AlignedVector<float> DeviceEvaluator::mean_of_draws(const Ratings& part,
                                                    DeviceStream stream) const {
  const auto known = impl_->find(part);
  if (known == impl_->parts.end() || known->means.empty()) return {};
  AlignedVector<float> mean(part.nnz());
  cuda::download(View<float>(mean), known->means.data(), stream);
  return mean;
}

LossSums DeviceEvaluator::sums(DeviceStream stream) {
  const View<LossSums> host = impl_->partial_host.view().part(0, impl_->n_partial);
  cuda::download(host, impl_->partial.data(), stream);
  LossSums total;
  for (const LossSums& sums : host) add_sums(total, sums);
  return total;
}

Accuracy DeviceEvaluator::evaluate(const FactorView& model, const PredictionRule& rule,
                                   const Ratings& part, DeviceStream stream, LossMethod method) {
  if (part.nnz() == 0) return accuracy_of({}, 0);
  launch(model, rule, part, stream, method);
  return accuracy_of(sums(stream), part.nnz());
}

}  // namespace mf
