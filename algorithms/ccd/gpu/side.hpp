// One side of R on the device: its residuals in its own order, and its factors, a vector for each.
#pragma once

#include <cstdint>

#include "algorithms/ccd/gpu/kernels.hpp"
#include "algorithms/ccd/settings.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"

namespace mf::ccd {

// Rows with more slots than this, on average, are added by a warp each.
inline constexpr std::int64_t kSlotsOfThread = 4;

// The vectors of the other side that a pass gathers from.
struct Other {
  const float* held;
  const float* old;
  const float* now;
};

class DeviceSide {
 public:
  DeviceSide() = default;
  // Made of the rows of R, or its columns, which may then be freed; R starts with their values.
  // `tables`: vectors that an exchange gathers from.
  DeviceSide(const Settings& settings, const cuda::RatingsOfRows& rows, std::int64_t n_others,
             int tables, cudaStream_t stream);
  // The factors of each row, row_stride(factors) numbers apart. Before any step.
  void start(cuda::DeviceBuffer<float> packed, cudaStream_t stream);

  // R -= P Q^T of the first factors of both sides. The other side's rows are its packed ones.
  void subtract(const DeviceSide& other, cudaStream_t stream);

  // The steps of sweep_factor, as in cpu/side.hpp.
  void exchange(int k, int held, const Other& other, cudaStream_t stream);
  void solve(int k, const float* now, cudaStream_t stream);
  void change(int k, float sign, const float* other, cudaStream_t stream);

  // Of factor k, or zeros for kNone: a number for each row, and zeros.
  const float* vector(int k) const {
    return k == kNone ? zeros_.data() : vectors_.data() + k * stride_;
  }
  const float* old() const { return old_.data(); }
  // Rows of row_stride(factors) numbers, zero beyond the factors.
  const float* pack(cudaStream_t stream);
  // Launches each kernel once, which loads it: no epoch pays for that.
  void warm_up(const Other& other, cudaStream_t stream);

  std::int64_t tiles() const { return tiles_; }
  bool shared() const { return view_.shared; }
  double padding() const { return padding_; }  // share of the stream

 private:
  void finish(int k, cudaStream_t stream);

  int factors_ = 0;
  std::int64_t rows_ = 0, stride_ = 0, tiles_ = 0;
  double padding_ = 0;
  DeviceSideView view_ = {};
  StreamTasks tasks_;
  cuda::DeviceBuffer<Piece> pieces_;
  cuda::DeviceBuffer<std::int32_t> of_block_;
  cuda::DeviceBuffer<std::uint16_t> narrow_;  // one of the two is empty
  cuda::DeviceBuffer<std::int32_t> wide_;
  cuda::DeviceBuffer<float> residual_;
  cuda::DeviceBuffer<float2> sums_;
  cuda::DeviceBuffer<float> shrink_, vectors_, zeros_, old_, packed_;
  bool by_warp_ = false;
};

}  // namespace mf::ccd
