// A thread a row: its stream of random numbers cannot be cut. It writes 16 bytes at a time, so that
// the data in flight stay in L2. Some 150 operations in fp64 an element.
#include "algorithms/core/cuda/initial_rows.hpp"

#include "algorithms/core/cuda/launch.hpp"

namespace mf::cuda {
namespace {

constexpr int kThreads = 128;

template <class Real>
struct alignas(16) Word {
  static constexpr int kSize = 16 / sizeof(Real);
  Real numbers[kSize];
};

template <class Real>
__global__ void __launch_bounds__(kThreads)
    make_kernel(const InitialRows rule, std::int64_t first_row, std::int64_t rows,
                std::int64_t stride, Real* out) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  Rng rng = rule.row(first_row + row);
  auto* words = reinterpret_cast<Word<Real>*>(out + row * stride);
  for (std::int64_t first = 0; first < stride; first += Word<Real>::kSize) {
    Word<Real> word;
    for (int k = 0; k < Word<Real>::kSize; ++k) {
      word.numbers[k] = first + k < rule.factors ? static_cast<Real>(rule.element(rng)) : Real{0};
    }
    words[first / Word<Real>::kSize] = word;
  }
}

template <class Real>
void make(const InitialRows& rule, RowRange rows, std::int64_t stride, Real* out,
          cudaStream_t stream) {
  if (rows.size() == 0) return;
  make_kernel<<<blocks_for(rows.size(), kThreads), kThreads, 0, stream>>>(rule, rows.begin,
                                                                          rows.size(), stride, out);
  MF_CUDA_LAUNCHED("initial_rows");
}

const InitialRows& rule_of(const Model& initial, RowsOf side) {
  return side == RowsOf::users ? initial.rule->users : initial.rule->items;
}

// A warp a row.
__global__ void __launch_bounds__(kThreads)
    zero_kernel(const std::int64_t* offsets, std::int64_t count, float* rows, std::int64_t stride) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32;
  if (row >= count || offsets[row] < offsets[row + 1]) return;
  for (std::int64_t k = threadIdx.x % 32; k < stride; k += 32) rows[row * stride + k] = 0;
}

}  // namespace

void zero_empty_rows(const std::int64_t* offsets, std::int64_t count, float* rows,
                     std::int64_t stride, cudaStream_t stream) {
  if (count == 0) return;
  zero_kernel<<<blocks_for(count, kThreads / 32), kThreads, 0, stream>>>(offsets, count, rows,
                                                                         stride);
  MF_CUDA_LAUNCHED("zero_empty_rows");
}

template <class Real>
DeviceBuffer<Real> initial_rows(const Model& initial, RowsOf side, RowRange rows,
                                std::int64_t stride, Uploader& uploader) {
  const bool users = side == RowsOf::users;
  if (!initial.rule) {
    const View<const float> all(users ? initial.p : initial.q);
    return uploader.rows<Real>(all.part(rows.begin * initial.factors, rows.end * initial.factors),
                               initial.factors, stride);
  }
  DeviceBuffer<Real> out(rows.size() * stride);
  make(rule_of(initial, side), rows, stride, out.data(), uploader.stream());
  return out;
}

void make_initial_rows(const Model& initial, RowsOf side, RowRange rows, std::int64_t stride,
                       Uploader& uploader, float* out) {
  const cudaStream_t stream = uploader.stream();
  if (initial.rule) return make(rule_of(initial, side), rows, stride, out, stream);
  const auto uploaded = initial_rows<float>(initial, side, rows, stride, uploader);
  if (uploaded.empty()) return;
  MF_CUDA(
      cudaMemcpyAsync(out, uploaded.data(), uploaded.bytes(), cudaMemcpyDeviceToDevice, stream));
}

template <class Real>
DeviceBuffer<Real> initial_rows(const Model& initial, RowsOf side, std::int64_t stride,
                                Uploader& uploader) {
  const RowRange all = {0, side == RowsOf::users ? initial.n_users : initial.n_items};
  return initial_rows<Real>(initial, side, all, stride, uploader);
}

template DeviceBuffer<float> initial_rows(const Model&, RowsOf, RowRange, std::int64_t, Uploader&);
template DeviceBuffer<double> initial_rows(const Model&, RowsOf, RowRange, std::int64_t, Uploader&);
template DeviceBuffer<float> initial_rows(const Model&, RowsOf, std::int64_t, Uploader&);
template DeviceBuffer<double> initial_rows(const Model&, RowsOf, std::int64_t, Uploader&);

}  // namespace mf::cuda
