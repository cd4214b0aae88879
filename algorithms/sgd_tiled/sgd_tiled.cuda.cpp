// sgd_tiled on the device.
#include "algorithms/core/cuda/stored_model.hpp"
#include "algorithms/core/registry.hpp"
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
    work_ = pass_work(
        train, settings_.factors, settings_.model, sizeof(RowRating),
        settings_.factors * storage_bytes(settings_.storage) + (settings_.biased() ? 4 : 0));
    mean_ = settings_.biased() ? initial.mean : 0;
    seed_ = context.seed;
    stream_ = context.stream;
    workers_ = settings_.workers > 0
                   ? settings_.workers
                   : lock_free_workers({train.n_users(), train.n_items(), train.nnz()});
    const Tiles tiles = make_tiles(train.user_offsets(), settings_.chunk, bundle_size(settings_),
                                   seed_, *context.team);
    bundles_ = tiles.bundles();
    const Thinning thinning =
        thin_items(train.items(), train.n_items(), settings_.thin_above, *context.team);
    writes_made_ = thinning.writes_made;
    const PhaseScope phase(context.phases, "transfer");
    cuda::Uploader uploader(*context.team, stream_);
    chunks_ = uploader.array(View<const Chunk>(tiles.chunks));
    upload_shuffled(train, thinning.exponents, uploader);
    model_ = cuda::StoredModel(settings_.storage, initial, uploader);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context&) override {
    const auto epoch = static_cast<std::uint64_t>(args.epoch);
    launch_pass({settings_,
                 {settings_.factors, chunks_.data(), bundles_, workers_, ratings_.data(),
                  model_.p(), model_.q(), model_.user_bias(), model_.item_bias()},
                 step_at(args.learning_rate, settings_.reg, mean_),
                 epoch_order(bundles_, seed_, args.epoch),
                 static_cast<std::uint32_t>(mix64(seed_ + epoch)),
                 static_cast<std::uint32_t>(epoch),
                 stream_});
    return static_cast<std::int64_t>(work_.updates);
  }

  FactorView factors() override { return model_.view(stream_); }
  Work work_per_epoch() const override { return work_; }
  Json facts() const override { return {{"writes_made", writes_made_}}; }

 private:
  void upload_shuffled(const Ratings& train, const AlignedVector<std::uint8_t>& exponents,
                       cuda::Uploader& uploader) {
    const auto items = train.items();
    const auto values = train.values();
    const auto offsets = uploader.array(train.user_offsets());
    const auto sorted = uploader.filled<RowRating>(
        train.nnz(), [&](std::int64_t begin, std::int64_t end, RowRating* out) {
          for (std::int64_t i = begin; i < end; ++i) {
            *out++ = {marked_item(items[i], exponents[items[i]]), values[i]};
          }
        });
    ratings_ = cuda::DeviceBuffer<RowRating>(train.nnz());
    launch_shuffle(sorted.data(), ratings_.data(), offsets.data(), train.n_users(), seed_, stream_);
    MF_CUDA(cudaStreamSynchronize(stream_));  // before the sorted copy goes
  }

  Settings settings_;
  Work work_;
  double mean_ = 0;
  std::uint64_t seed_ = 0;
  std::int64_t bundles_ = 0;
  std::int64_t workers_ = 1;
  double writes_made_ = 1;
  cudaStream_t stream_ = nullptr;
  cuda::DeviceBuffer<Chunk> chunks_;
  cuda::DeviceBuffer<RowRating> ratings_;
  cuda::StoredModel model_;
};

const RegisterFactory kTiled("sgd_tiled", [](const Params& params) {
  return std::make_unique<SgdTiled>(read_settings(params));
});

}  // namespace
}  // namespace mf::sgd_tiled
