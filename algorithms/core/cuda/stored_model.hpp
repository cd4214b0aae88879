// A model on the device whose factors are stored as fp32, fp16 or bf16.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/upload.hpp"
#include "algorithms/core/model.hpp"
#include "algorithms/core/storage.hpp"

namespace mf::cuda {

class StoredModel {
 public:
  StoredModel() = default;
  // Uploads; the initial factors are rounded to nearest.
  StoredModel(Storage storage, const Model& initial, Uploader& uploader);

  // Rows of storage_stride values, zero beyond the factors, 16-byte aligned.
  void* p() { return wide() ? static_cast<void*>(p_wide_.data()) : p_.data(); }
  void* q() { return wide() ? static_cast<void*>(q_wide_.data()) : q_.data(); }
  float* user_bias() { return user_bias_.data(); }  // null for the plain model
  float* item_bias() { return item_bias_.data(); }

  // Queues the copy to fp32 that the view shows, if the factors are not fp32 themselves.
  FactorView view(cudaStream_t stream);

 private:
  bool wide() const { return storage_ == Storage::fp32; }

  Storage storage_ = Storage::fp32;
  ModelShape shape_;
  DeviceBuffer<std::byte> p_, q_;  // of the narrow types
  DeviceBuffer<float> p_wide_, q_wide_;
  DeviceBuffer<float> user_bias_, item_bias_;
};

}  // namespace mf::cuda
