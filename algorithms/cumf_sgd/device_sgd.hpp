// Device data common to batch_hogwild and wavefront: ratings in the order of the schedule, and the
// stored model.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/cuda/stored_model.hpp"
#include "algorithms/core/rank_train.hpp"
#include "algorithms/cumf_sgd/kernels.hpp"
#include "base/rng.hpp"

namespace mf::cumf_sgd {

template <class OwnSettings>
class DeviceSgd : public Algorithm {
 public:
  explicit DeviceSgd(const OwnSettings& settings) : settings_(settings) {}

  FactorView factors() override { return model_.view(stream_); }
  Work work_per_epoch() const override { return work_; }

 protected:
  // The start of every prepare.
  void start(const Ratings& train, const Model& initial, const Context& context) {
    check_initial(ModelKind::plain, settings_.factors, train, initial);
    seed_ = context.seed;
    nnz_ = all_ratings(train, context);
    stream_ = context.stream;
  }

  void set_work(const RatedShape& rated) {
    work_ = pass_work(rated, settings_.factors, ModelKind::plain, sizeof(Rating),
                      settings_.factors * storage_bytes(settings_.storage));
  }

  Pass pass(const EpochArgs& args) {
    return {settings_,
            {settings_.factors, nnz_, users_.data(), items_.data(), values_.data(), model_.p(),
             model_.q()},
            step_at(args.learning_rate, settings_.reg, 0),
            static_cast<std::uint32_t>(mix64(seed_ + static_cast<std::uint64_t>(args.epoch))),
            stream_};
  }

  OwnSettings settings_;
  Work work_;
  std::uint64_t seed_ = 0;
  std::int64_t nnz_ = 0;
  cudaStream_t stream_ = nullptr;
  cuda::DeviceBuffer<std::int32_t> users_, items_;
  cuda::DeviceBuffer<float> values_;
  cuda::StoredModel model_;
};

}  // namespace mf::cumf_sgd
