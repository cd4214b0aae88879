// wavefront on the device.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stored_model.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/cumf_sgd/grid.hpp"
#include "algorithms/cumf_sgd/kernels.hpp"
#include "base/error.hpp"

namespace mf::cumf_sgd {
namespace {

using cuda::DeviceBuffer;

constexpr double kRatingsABlock = 64;

class Wavefront : public Algorithm {
 public:
  explicit Wavefront(const Settings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, settings_.factors, train, initial);
    work_ = pass_work(settings_, train);
    seed_ = context.seed;
    nnz_ = train.nnz();
    stream_ = static_cast<cudaStream_t>(context.stream);
    const std::int64_t bands = choose_workers(train);
    const std::int64_t columns =
        settings_.column_blocks > 0
            ? settings_.column_blocks
            : std::clamp<std::int64_t>(2 * bands, 1, std::max(train.n_items(), 1));
    const WavefrontGrid grid = make_grid(train, bands, columns, seed_, *context.team);
    bands_ = bands;
    columns_ = columns;
    const PhaseScope phase(context.phases, "transfer");
    users_ = cuda::upload(std::span<const std::int32_t>(grid.users), stream_);
    items_ = cuda::upload(std::span<const std::int32_t>(grid.items), stream_);
    values_ = cuda::upload(std::span<const float>(grid.values), stream_);
    offsets_ = cuda::upload(std::span<const std::int64_t>(grid.offsets), stream_);
    busy_ = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(columns));
    MF_CUDA(cudaMemsetAsync(busy_.data(), 0, busy_.bytes(), stream_));
    model_ = cuda::StoredModel(settings_.storage, initial, *context.team, stream_);
    MF_CUDA(cudaStreamSynchronize(stream_));  // before the grid goes
  }

  std::int64_t run_epoch(const EpochArgs& args, Context&) override {
    const auto keep = [&](double reg) { return static_cast<float>(1 - args.learning_rate * reg); };
    const auto seed = mixed(seed_ + static_cast<std::uint64_t>(args.epoch));
    launch_wavefront(
        settings_, arrays(), {bands_, columns_, offsets_.data(), busy_.data(), seed_},
        {static_cast<float>(args.learning_rate), keep(settings_.reg.p), keep(settings_.reg.q)},
        static_cast<std::uint32_t>(seed), stream_);
    return nnz_;
  }

  FactorView factors() override { return model_.view(stream_); }
  Work work_per_epoch() const override { return work_; }
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
  std::int64_t bands_ = 0;
  std::int64_t columns_ = 0;
  cudaStream_t stream_ = nullptr;
  DeviceBuffer<std::int32_t> users_, items_, busy_;
  DeviceBuffer<float> values_;
  DeviceBuffer<std::int64_t> offsets_;
  cuda::StoredModel model_;
};

const RegisterFactory kWavefront("wavefront", [](const Params& params) {
  return std::make_unique<Wavefront>(read_settings(params));
});

}  // namespace
}  // namespace mf::cumf_sgd
