// wavefront on the device.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>

#include "algorithms/core/registry.hpp"
#include "algorithms/cumf_sgd/device_sgd.hpp"
#include "algorithms/cumf_sgd/grid.hpp"
#include "base/error.hpp"

namespace mf::cumf_sgd {
namespace {

using cuda::DeviceBuffer;

constexpr double kRatingsABlock = 64;

class Wavefront : public DeviceSgd {
 public:
  using DeviceSgd::DeviceSgd;

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    start(train, initial, context);
    const std::int64_t bands = choose_workers(train);
    const std::int64_t columns =
        settings_.column_blocks > 0
            ? settings_.column_blocks
            : std::clamp<std::int64_t>(2 * bands, 1, std::max(train.n_items(), 1));
    const WavefrontGrid grid = make_grid(train, bands, columns, seed_, *context.team);
    bands_ = bands;
    columns_ = columns;
    const PhaseScope phase(context.phases, "transfer");
    users_ = cuda::upload(View<const std::int32_t>(grid.users), stream_);
    items_ = cuda::upload(View<const std::int32_t>(grid.items), stream_);
    values_ = cuda::upload(View<const float>(grid.values), stream_);
    offsets_ = cuda::upload(View<const std::int64_t>(grid.offsets), stream_);
    busy_ = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(columns));
    MF_CUDA(cudaMemsetAsync(busy_.data(), 0, busy_.bytes(), stream_));
    model_ = cuda::StoredModel(settings_.storage, initial, *context.team, stream_);
    MF_CUDA(cudaStreamSynchronize(stream_));  // before the grid goes
  }

  std::int64_t run_epoch(const EpochArgs& args, Context&) override {
    launch_wavefront(settings_, arrays(), {bands_, columns_, offsets_.data(), busy_.data(), seed_},
                     step_at(args.learning_rate), rounding_seed(args.epoch), stream_);
    return nnz_;
  }

  Json facts() const override {
    return {{"workers", bands_},
            {"column_blocks", columns_},
            {"ratings_per_block",
             static_cast<double>(nnz_) /
                 static_cast<double>(std::max<std::int64_t>(1, bands_ * columns_))}};
  }

 private:
  // All workers must be on the device at once, since they wait for each other.
  std::int64_t choose_workers(const Ratings& train) const {
    const std::int64_t resident = resident_workers(settings_);
    if (settings_.workers > resident) {
      fail(ErrorKind::unsupported, "workers is {}, this device holds {} at once", settings_.workers,
           resident);
    }
    if (settings_.workers > 0) return settings_.workers;
    const double wanted = std::sqrt(static_cast<double>(train.nnz()) / (2 * kRatingsABlock));
    const std::int64_t most = std::min<std::int64_t>(resident, std::max(train.n_users(), 1));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, most);
  }

  std::int64_t bands_ = 0;
  std::int64_t columns_ = 0;
  DeviceBuffer<std::int32_t> busy_;
  DeviceBuffer<std::int64_t> offsets_;
};

const RegisterFactory kWavefront("wavefront", [](const Params& params) {
  return std::make_unique<Wavefront>(read_settings(params));
});

}  // namespace
}  // namespace mf::cumf_sgd
