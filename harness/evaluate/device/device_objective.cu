#include <algorithm>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "harness/evaluate/device/cublas.hpp"
#include "harness/evaluate/device/device_quality.hpp"
#include "harness/evaluate/device/loss_kernels.cuh"

namespace mf {
namespace {

using cuda::DeviceBuffer;
using cuda::PinnedBuffer;

constexpr int kRowThreads = 256;
constexpr int kRowBlocks = 512;  // fixed: the order of the sums does not depend on the device

using PairKernel = void (*)(LossArgs, std::int64_t, LossSums*);
template <int kWidth, int kLanes, int kVectors>
constexpr PairKernel kPairs = fused_loss<RowLayout<kWidth, kLanes, kVectors, false>, ImplicitTerm>;

PairKernel pair_kernel(const FactorView& model) {
  const int f = model.factors;
  if (has_aligned_rows(model)) {
    if (f <= 64) return kPairs<4, 8, 2>;
    if (f <= 128) return kPairs<4, 8, 4>;
    if (f <= 256) return kPairs<4, 8, 8>;
    if (f <= 512) return kPairs<4, 16, 8>;
    return f <= 1024 ? kPairs<4, 32, 8> : long_row_loss<ImplicitTerm>;
  }
  if (f <= 64) return kPairs<1, 8, 8>;
  return f <= 256 ? kPairs<1, 32, 8> : long_row_loss<ImplicitTerm>;
}

// reg |row|^2 over all rows, a warp a row; partial has kRowBlocks elements.
__global__ void __launch_bounds__(kRowThreads)
    regularization(const float* __restrict__ rows, std::int64_t stride, std::int32_t factors,
                   const double* __restrict__ reg, std::int64_t count,
                   LossSums* __restrict__ partial) {
  constexpr std::int64_t kWarps = std::int64_t{kRowBlocks} * kRowThreads / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t first =
      (std::int64_t{blockIdx.x} * kRowThreads + static_cast<int>(threadIdx.x)) / 32;
  LossSums sums;
  for (std::int64_t r = first; r < count; r += kWarps) {
    const float* row = rows + r * stride;
    double square = 0;
    for (int k = lane; k < factors; k += 32) {
      const auto x = static_cast<double>(row[k]);
      square = fma(x, x, square);
    }
    sums.square += reg[r] * square;
  }
  store_block_sum<kRowThreads>(sums, partial);
}

// `count` rows, packed.
__global__ void __launch_bounds__(kRowThreads)
    widen(const float* __restrict__ rows, std::int64_t stride, std::int32_t factors,
          std::int64_t count, double* __restrict__ to) {
  const std::int64_t all = count * factors;
  const std::int64_t grid = std::int64_t{gridDim.x} * kRowThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kRowThreads + threadIdx.x; i < all; i += grid) {
    to[i] = static_cast<double>(rows[i / factors * stride + i % factors]);
  }
}

}  // namespace

struct DeviceObjective::Impl {
  CublasHandle cublas;
  cuda::Stream beside;
  cuda::Event ready;  // the model
  double alpha = 0;
  std::int32_t n_users = 0;
  std::int32_t n_items = 0;
  DeviceBuffer<std::int32_t> users;
  DeviceBuffer<std::int32_t> items;
  DeviceBuffer<float> values;
  std::int64_t nnz = 0;
  DeviceBuffer<double> user_reg, item_reg;
  DeviceBuffer<LossSums> partial;  // of the pairs, of P, of Q
  PinnedBuffer<LossSums> partial_host;
  DeviceBuffer<double> block, gram;
  std::int32_t factors = 0;

  void add_pairs(const FactorView& model, cudaStream_t stream) {
    if (nnz == 0) return;
    LossArgs args;
    args.model = model;
    args.part = {users.data(), items.data(), values.data(), nnz};
    args.alpha = alpha;
    const auto blocks = static_cast<unsigned>(loss_blocks(nnz));
    pair_kernel(model)<<<blocks, kLossThreads, 0, stream>>>(args, loss_chunk(nnz), partial.data());
    MF_CUDA_LAUNCHED("fused_loss of pairs");
  }

  void add_regularization(const float* rows, std::int64_t stride, std::int32_t factors,
                          const DeviceBuffer<double>& reg, LossSums* to, cudaStream_t stream) {
    regularization<<<kRowBlocks, kRowThreads, 0, stream>>>(
        rows, stride, factors, reg.data(), static_cast<std::int64_t>(reg.size()), to);
    MF_CUDA_LAUNCHED("regularization");
  }

  // <A, B> of symmetric matrices of which the lower triangles are there, among zeros.
  double product(const double* a, const double* b, std::int32_t f, cudaStream_t stream) {
    double all = 0;
    double diagonal = 0;
    MF_CUBLAS(cublasDdot(cublas.on(stream), f * f, a, 1, b, 1, &all));
    MF_CUBLAS(cublasDdot(cublas.on(stream), f, a, f + 1, b, f + 1, &diagonal));
    return 2 * all - diagonal;
  }

  // The lower triangle of the Gram: a row of `rows` is a column of cuBLAS's matrix.
  void add_gram(const float* rows, std::int64_t stride, std::int32_t f, std::int64_t count,
                double* to, cudaStream_t stream) {
    const double one = 1;
    for (std::int64_t first = 0; first < count; first += kGramBlock) {
      const std::int64_t now = std::min(kGramBlock, count - first);
      const double before = first == 0 ? 0 : 1;
      widen<<<cuda::blocks_for(now * f, kRowThreads, 4096), kRowThreads, 0, stream>>>(
          rows + first * stride, stride, f, now, block.data());
      MF_CUDA_LAUNCHED("widen");
      MF_CUBLAS(cublasDsyrk(cublas.on(stream), CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, f,
                            static_cast<int>(now), &one, block.data(), f, &before, to, f));
    }
  }
};

DeviceObjective::DeviceObjective(const ImplicitObjective& objective, DeviceStream stream)
    : impl_(std::make_unique<Impl>()) {
  const Ratings& train = objective.train();
  impl_->alpha = objective.loss().alpha;
  impl_->n_users = train.n_users();
  impl_->n_items = train.n_items();
  impl_->nnz = train.nnz();
  impl_->users = cuda::upload(train.users(), stream);
  impl_->items = cuda::upload(train.items(), stream);
  impl_->values = cuda::upload(train.values(), stream);
  impl_->user_reg = cuda::upload(objective.user_reg(), stream);
  impl_->item_reg = cuda::upload(objective.item_reg(), stream);
  const std::int64_t sums = (impl_->nnz == 0 ? 0 : loss_blocks(impl_->nnz)) + 2 * kRowBlocks;
  impl_->partial = DeviceBuffer<LossSums>(sums);
  impl_->partial_host = PinnedBuffer<LossSums>(static_cast<std::size_t>(sums));
}
DeviceObjective::~DeviceObjective() = default;

void DeviceObjective::begin(const FactorView& model, DeviceStream after) {
  if (model.n_users != impl_->n_users || model.n_items != impl_->n_items) {
    fail(ErrorKind::data, "a model of {} users and {} items, expected the {} and {} of training",
         model.n_users, model.n_items, impl_->n_users, impl_->n_items);
  }
  const cudaStream_t stream = impl_->beside.get();
  impl_->ready.record(after);
  MF_CUDA(cudaStreamWaitEvent(stream, impl_->ready.get(), 0));
  impl_->factors = model.factors;
  const std::int64_t f = model.factors;
  if (std::ssize(impl_->gram) != 2 * f * f) {
    impl_->gram = cuda::zeros<double>(2 * f * f, stream);
    impl_->block = DeviceBuffer<double>(kGramBlock * f);
  }
  double* gram = impl_->gram.data();
  impl_->add_pairs(model, stream);
  LossSums* of_rows = impl_->partial.data() + std::ssize(impl_->partial) - 2 * kRowBlocks;
  impl_->add_regularization(model.p, model.p_stride, model.factors, impl_->user_reg, of_rows,
                            stream);
  impl_->add_regularization(model.q, model.q_stride, model.factors, impl_->item_reg,
                            of_rows + kRowBlocks, stream);
  impl_->add_gram(model.p, model.p_stride, model.factors, model.n_users, gram, stream);
  impl_->add_gram(model.q, model.q_stride, model.factors, model.n_items, gram + f * f, stream);
}

double DeviceObjective::finish() {
  const cudaStream_t stream = impl_->beside.get();
  const std::int64_t f = impl_->factors;
  const double* gram = impl_->gram.data();
  cuda::download(impl_->partial_host.view(), impl_->partial.data(), stream);
  double total = impl_->product(gram, gram + f * f, impl_->factors, stream);
  double sum = 0;
  for (const LossSums& one : impl_->partial_host.view()) sum += one.square;
  total += sum;
  return total;
}

}  // namespace mf
