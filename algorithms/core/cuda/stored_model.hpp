// A model on the device whose factors are stored as fp32, fp16 or bf16.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/model.hpp"
#include "algorithms/core/storage.hpp"
#include "base/threads.hpp"

namespace mf::cuda {

class StoredModel {
 public:
  StoredModel() = default;
  // Uploads; the initial factors are rounded to nearest.
  StoredModel(Storage storage, const Model& initial, ThreadTeam& team, cudaStream_t stream);

  // Rows of storage_stride values, zero beyond the factors, 16-byte aligned.
  void* p() { return p_.data(); }
  void* q() { return q_.data(); }
  float* user_bias() { return user_bias_.data(); }  // null for the plain model
  float* item_bias() { return item_bias_.data(); }

  // Queues the copy to fp32 that the view shows.
  FactorView view(cudaStream_t stream);

 private:
  Storage storage_ = Storage::fp32;
  std::int32_t n_users_ = 0;
  std::int32_t n_items_ = 0;
  std::int32_t factors_ = 0;
  double mean_ = 0;
  DeviceBuffer<std::byte> p_, q_;
  DeviceBuffer<float> p_wide_, q_wide_;
  DeviceBuffer<float> user_bias_, item_bias_;
};

}  // namespace mf::cuda
