// wavefront on the device.
#include <algorithm>
#include <utility>

#include "algorithms/core/registry.hpp"
#include "algorithms/cumf_sgd/device_grid.hpp"
#include "algorithms/cumf_sgd/device_sgd.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"

namespace mf::cumf_sgd {
namespace {

class Wavefront : public DeviceSgd<WavefrontSettings> {
 public:
  using DeviceSgd::DeviceSgd;

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    start(train, initial, context);
    choose_grid({train.n_users(), train.n_items(), train.nnz()});
    const auto ratings = cuda::ratings_on_device(train, context);
    DeviceGrid grid = make_device_grid(*ratings, bands_, columns_, seed_, stream_);
    set_work(rated_shape(train, context));
    ratings->release_rows();
    users_ = std::move(grid.users);
    items_ = std::move(grid.items);
    values_ = std::move(grid.values);
    offsets_ = std::move(grid.offsets);
    busy_ = cuda::zeros<std::int32_t>(columns_, stream_);
    cuda::Uploader uploader(*context.team, stream_);
    model_ = cuda::StoredModel(settings_.storage, initial, uploader);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context&) override {
    launch_wavefront(pass(args), {bands_, columns_, offsets_.data(), busy_.data(), seed_});
    return nnz_;
  }

  Json facts() const override {
    const auto blocks = static_cast<double>(std::max<std::int64_t>(1, bands_ * columns_));
    return {{"workers", bands_},
            {"column_blocks", columns_},
            {"ratings_per_block", static_cast<double>(nnz_) / blocks}};
  }

 private:
  // All workers must be on the device at once, since they wait for each other.
  void choose_grid(const ProblemShape& shape) {
    const std::int64_t resident = resident_workers(settings_);
    if (settings_.workers > resident) {
      fail(ErrorKind::unsupported, "workers is {}, this device holds {} at once", settings_.workers,
           resident);
    }
    const WavefrontShape grid = wavefront_shape(settings_, shape, resident);
    bands_ = grid.bands;
    columns_ = grid.columns;
  }

  std::int64_t bands_ = 0;
  std::int64_t columns_ = 0;
  cuda::DeviceBuffer<std::int32_t> busy_;
  cuda::DeviceBuffer<std::int64_t> offsets_;
};

const RegisterFactory kWavefront("wavefront", [](const Params& params) {
  return std::make_unique<Wavefront>(read_wavefront(params));
});

}  // namespace
}  // namespace mf::cumf_sgd
