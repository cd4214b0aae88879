// What batch_hogwild and wavefront have on the device alike: ratings in the order of the schedule,
// and the stored model.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stored_model.hpp"
#include "algorithms/cumf_sgd/kernels.hpp"
#include "base/rng.hpp"

namespace mf::cumf_sgd {

class DeviceSgd : public Algorithm {
 public:
  explicit DeviceSgd(const Settings& settings) : settings_(settings) {}

  FactorView factors() override { return model_.view(stream_); }
  Work work_per_epoch() const override { return work_; }

 protected:
  // What every prepare begins with.
  void start(const Ratings& train, const Model& initial, const Context& context) {
    check_initial(ModelKind::plain, settings_.factors, train, initial);
    work_ = pass_work(settings_, train);
    seed_ = context.seed;
    nnz_ = train.nnz();
    stream_ = static_cast<cudaStream_t>(context.stream);
  }

  Step step_at(double rate) const {
    return {static_cast<float>(rate), keeps_at(rate, settings_.reg)};
  }

  // Of the rounding; another in every epoch.
  std::uint32_t rounding_seed(std::int64_t epoch) const {
    return static_cast<std::uint32_t>(mix64(seed_ + static_cast<std::uint64_t>(epoch)));
  }

  Arrays arrays() {
    Arrays a;
    a.factors = settings_.factors;
    a.nnz = nnz_;
    a.users = users_.data();
    a.items = items_.data();
    a.values = values_.data();
    a.p = model_.p();
    a.q = model_.q();
    return a;
  }

  Settings settings_;
  Work work_;
  std::uint64_t seed_ = 0;
  std::int64_t nnz_ = 0;
  cudaStream_t stream_ = nullptr;
  cuda::DeviceBuffer<std::int32_t> users_, items_;
  cuda::DeviceBuffer<float> values_;
  cuda::StoredModel model_;
};

}  // namespace mf::cumf_sgd
