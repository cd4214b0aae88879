// gpusgd and newgpusgd on the device, in either precision.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/staging.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/gpusgd/kernels.hpp"
#include "algorithms/gpusgd/partition.hpp"
#include "algorithms/gpusgd/settings.hpp"

namespace mf::gpusgd {

// Real is float or double.
template <class Real>
class BlockSgd : public Algorithm {
 public:
  BlockSgd(Scheme scheme, const Settings& settings) : scheme_(scheme), settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override;
  std::int64_t run_epoch(const EpochArgs& args, Context& context) override;
  FactorView factors() override;
  Work work_per_epoch() const override { return work_; }
  Json facts() const override { return facts_; }

  // For tests: the factors in their own precision, rows of row_stride elements.
  const cuda::DeviceBuffer<Real>& p() const { return p_; }
  const cuda::DeviceBuffer<Real>& q() const { return q_; }
  const cuda::DeviceBuffer<Real>& user_bias() const { return user_bias_; }
  const cuda::DeviceBuffer<Real>& item_bias() const { return item_bias_; }

 private:
  void upload_tables(const Partition& partition, const Groups& groups, cuda::Staging& staging,
                     ThreadTeam& team);
  void upload_model(const Model& initial, cuda::Staging& staging, ThreadTeam& team);
  void capture_epoch();
  Arrays<Real> arrays();

  Scheme scheme_;
  Settings settings_;
  Work work_;
  Json facts_ = Json::object();
  cudaStream_t stream_ = nullptr;
  std::int32_t n_users_ = 0;
  std::int32_t n_items_ = 0;
  std::int64_t nnz_ = 0;
  double mean_ = 0;
  std::optional<double> rate_;  // that the device has
  cuda::DeviceBuffer<Rating> ratings_;
  cuda::DeviceBuffer<std::int64_t> offsets_, first_group_, group_begins_;
  cuda::DeviceBuffer<Real> p_, q_, user_bias_, item_bias_;
  cuda::DeviceBuffer<float> p_view_, q_view_, user_bias_view_, item_bias_view_;  // of fp64
  cuda::DeviceBuffer<Hyper<Real>> hyper_;
  cuda::Graph epoch_;
};

}  // namespace mf::gpusgd
