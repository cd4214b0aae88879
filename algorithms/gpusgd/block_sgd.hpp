// gpusgd and newgpusgd on the device, in either precision.
#pragma once

#include <optional>

#include "algorithms/core/cuda/device_model.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/gpusgd/device_arrangement.hpp"
#include "algorithms/gpusgd/kernels.hpp"
#include "base/json/json.hpp"

namespace mf::gpusgd {

// Real is float or double.
template <class Real>
class BlockSgd : public Algorithm {
 public:
  explicit BlockSgd(const Settings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override;
  std::int64_t run_epoch(const EpochArgs& args, Context& context) override;
  FactorView factors() override;
  Work work_per_epoch() const override { return work_; }
  Json facts() const override { return facts_; }

  cuda::DeviceModel<Real>& model() { return model_; }  // for tests

 private:
  Arrays<Real> start(DeviceArrangement made, const Model& initial, cuda::Uploader& uploader);

  Settings settings_;
  Work work_;
  Json facts_ = Json::object();
  cudaStream_t stream_ = nullptr;
  std::optional<double> rate_;  // that the device has
  cuda::DeviceBuffer<Rating> ratings_;
  cuda::DeviceBuffer<std::int64_t> offsets_, first_group_, group_begins_;
  cuda::DeviceModel<Real> model_;
  cuda::DeviceBuffer<sgd::Step<Real>> step_;
  cuda::Graph epoch_;
};

}  // namespace mf::gpusgd
