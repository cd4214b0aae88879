#include "algorithms/core/cuda/check.hpp"
#include "harness/device_model.hpp"

namespace mf {
namespace {

void copy_rows(AlignedVector<float>& to, const float* from, std::int64_t stride, std::int32_t count,
               std::int32_t width, cudaStream_t stream) {
  const auto rows = static_cast<std::size_t>(count);
  const std::size_t row_bytes = static_cast<std::size_t>(width) * sizeof(float);
  to.resize(rows * static_cast<std::size_t>(width));
  if (to.empty()) return;
  if (stride == width) {
    MF_CUDA(cudaMemcpyAsync(to.data(), from, rows * row_bytes, cudaMemcpyDeviceToHost, stream));
    return;
  }
  MF_CUDA(cudaMemcpy2DAsync(to.data(), row_bytes, from,
                            static_cast<std::size_t>(stride) * sizeof(float), row_bytes, rows,
                            cudaMemcpyDeviceToHost, stream));
}

}  // namespace

Model download_model(const FactorView& view, DeviceStream stream) {
  Model model = packed_model(
      view,
      [on](AlignedVector<float>& to, const float* from, std::int64_t stride, std::int32_t count,
           std::int32_t width) { copy_rows(to, from, stride, count, width, stream); });
  MF_CUDA(cudaStreamSynchronize(stream));
  return model;
}

}  // namespace mf
