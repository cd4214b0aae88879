// sgd_tiled on the device.
#include <memory>

#include "algorithms/core/cuda/stored_model.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/sgd_tiled/device_tiles.hpp"
#include "algorithms/sgd_tiled/kernels.hpp"
#include "algorithms/sgd_tiled/rule.hpp"
#include "base/json.hpp"

namespace mf::sgd_tiled {
namespace {

class SgdTiled : public Algorithm {
 public:
  explicit SgdTiled(const Settings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(settings_.model, settings_.factors, train, initial);
    mean_ = settings_.biased() ? initial.mean : 0;
    seed_ = context.seed;
    stream_ = context.stream;
    workers_ = settings_.workers > 0
                   ? settings_.workers
                   : lock_free_workers({train.n_users(), train.n_items(), train.nnz()});
    const auto ratings = cuda::ratings_on_device(train, context);
    tiles_ =
        make_device_tiles(ratings->rows(), settings_.chunk, bundle_size(settings_), seed_, stream_);
    shuffle(*ratings, context);
    ratings->release_rows();
    cuda::Uploader uploader(*context.team, stream_);
    model_ = cuda::StoredModel(settings_.storage, initial, uploader);
    if (settings_.biased()) spread_item_bias(train.n_items());
    const RatedShape rated = {ratings->nnz(),
                              ratings->rating_users(stream_) + ratings->rated_items(stream_)};
    work_ = pass_work(
        rated, settings_.factors, settings_.model, sizeof(RowRating),
        settings_.factors * storage_bytes(settings_.storage) + (settings_.biased() ? 4 : 0));
  }

  std::int64_t run_epoch(const EpochArgs& args, Context&) override {
    const auto epoch = static_cast<std::uint64_t>(args.epoch);
    launch_pass(
        {settings_,
         {settings_.factors, tiles_.chunks.data(), tiles_.bundles, workers_, ratings_.data(),
          model_.p(), model_.q(), model_.user_bias(), item_bias_.data(), item_bias_stride_},
         step_at(args.learning_rate, settings_.reg, mean_),
         epoch_order(tiles_.bundles, seed_, args.epoch),
         static_cast<std::uint32_t>(mix64(seed_ + epoch)),
         static_cast<std::uint32_t>(epoch),
         stream_});
    return static_cast<std::int64_t>(work_.updates);
  }

  FactorView factors() override {
    copy_item_bias(model_.item_bias(), 1, item_bias_.data(), item_bias_stride_);
    return model_.view(stream_);
  }
  Work work_per_epoch() const override { return work_; }
  Json facts() const override { return {{"writes_made", writes_made_}}; }

 private:
  void spread_item_bias(std::int64_t items) {
    item_bias_stride_ = item_bias_stride(items);
    item_bias_ = cuda::zeros<float>(items * item_bias_stride_, stream_);
    copy_item_bias(item_bias_.data(), item_bias_stride_, model_.item_bias(), 1);
  }
  void copy_item_bias(float* to, std::int64_t to_stride, const float* from,
                      std::int64_t from_stride) const {
    const std::int64_t items = std::ssize(item_bias_) / item_bias_stride_;
    if (items == 0) return;
    MF_CUDA(cudaMemcpy2DAsync(to, to_stride * sizeof(float), from, from_stride * sizeof(float),
                              sizeof(float), items, cudaMemcpyDeviceToDevice, stream_));
  }

  void shuffle(cuda::DeviceRatings& ratings, Context& context) {
    AlignedVector<std::int64_t> counts(ratings.n_items());
    cuda::download(View<std::int64_t>(counts), ratings.item_counts(stream_), stream_);
    const Thinning thinning = thin_items(counts, settings_.thin_above);
    writes_made_ = thinning.writes_made;
    cuda::Uploader uploader(*context.team, stream_);
    const auto exponents = uploader.array(View<const std::uint8_t>(thinning.exponents));
    ratings_ = cuda::DeviceBuffer<RowRating>(ratings.nnz());
    launch_shuffle(ratings.rows(), exponents.data(), ratings_.data(), seed_, stream_);
  }

  Settings settings_;
  Work work_;
  double mean_ = 0;
  std::uint64_t seed_ = 0;
  std::int64_t workers_ = 1;
  double writes_made_ = 1;
  cudaStream_t stream_ = nullptr;
  DeviceTiles tiles_;
  cuda::DeviceBuffer<RowRating> ratings_;
  cuda::StoredModel model_;
  cuda::DeviceBuffer<float> item_bias_;  // that training works on, of the biased model
  std::int64_t item_bias_stride_ = 1;
};

const RegisterFactory kTiled("sgd_tiled", [](const Params& params) {
  return std::make_unique<SgdTiled>(read_settings(params));
});

}  // namespace
}  // namespace mf::sgd_tiled
