#include "harness/device/download_model.hpp"
#include "algorithms/core/cuda/check.hpp"

namespace mf {
namespace {

void copy_rows(AlignedVector<float>& to, const float* from, std::int64_t stride, std::int32_t count,
               std::int32_t width, cudaStream_t stream) {
  to.resize(std::int64_t{count} * width);
  if (to.empty()) return;
  const std::size_t row_bytes = width * sizeof(float);
  if (stride == width) {
    MF_CUDA(cudaMemcpyAsync(to.data(), from, count * row_bytes, cudaMemcpyDeviceToHost, stream));
    return;
  }
  MF_CUDA(cudaMemcpy2DAsync(to.data(), row_bytes, from, stride * sizeof(float), row_bytes, count,
                            cudaMemcpyDeviceToHost, stream));
}

}  // namespace

Model download_model(const FactorView& view, DeviceStream stream) {
  Model model = packed_model(
      view,
      [stream](AlignedVector<float>& to, const float* from, std::int64_t stride, std::int32_t count,
               std::int32_t width) { copy_rows(to, from, stride, count, width, stream); });
  MF_CUDA(cudaStreamSynchronize(stream));
  return model;
}

}  // namespace mf
