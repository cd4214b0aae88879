// sgd_tiled on the device.
#include <cuda_runtime.h>

#include <algorithm>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/staging.hpp"
#include "algorithms/core/cuda/stored_model.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/sgd_tiled/kernels.hpp"
#include "algorithms/sgd_tiled/rule.hpp"
#include "base/rng.hpp"

namespace mf::sgd_tiled {
namespace {

using cuda::DeviceBuffer;

class SgdTiled : public Algorithm {
 public:
  explicit SgdTiled(const Settings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(settings_.model, settings_.factors, train, initial);
    work_ = pass_work(settings_, train);
    mean_ = initial.mean;
    seed_ = context.seed;
    n_users_ = train.n_users();
    const auto stream = static_cast<cudaStream_t>(context.stream);
    const Tiles tiles = make_tiles(train.user_offsets(), settings_.chunk, bundle_size(settings_),
                                   seed_, *context.team);
    bundles_ = tiles.bundles();
    workers_ = settings_.workers > 0
                   ? settings_.workers
                   : lock_free_workers({train.n_users(), train.n_items(), train.nnz()});
    const auto exponents =
        item_exponents(train.items(), train.n_items(), settings_.thin_above, *context.team);
    const PhaseScope phase(context.phases, "transfer");
    chunks_ = cuda::upload(View<const Chunk>(tiles.chunks), stream);
    upload_ratings(train, exponents, *context.team, stream);
    model_ = cuda::StoredModel(settings_.storage, initial, *context.team, stream);
    stream_ = stream;
  }

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    const auto stream = static_cast<cudaStream_t>(context.stream);
    const auto number = static_cast<std::uint64_t>(args.epoch);
    launch_pass(settings_, arrays(), step_at(args.learning_rate),
                epoch_order(bundles_, seed_, args.epoch),
                static_cast<std::uint32_t>(mix64(seed_ + number)),
                static_cast<std::uint32_t>(number), stream);
    return static_cast<std::int64_t>(work_.updates);
  }

  FactorView factors() override { return model_.view(stream_); }

  Work work_per_epoch() const override { return work_; }

 private:
  bool biased() const { return settings_.model == ModelKind::biased; }

  void upload_ratings(const Ratings& train, const AlignedVector<std::uint8_t>& exponents,
                      ThreadTeam& team, cudaStream_t stream) {
    DeviceBuffer<Entry> sorted(static_cast<std::size_t>(train.nnz()));
    entries_ = DeviceBuffer<Entry>(sorted.size());
    const auto offsets = cuda::upload(train.user_offsets(), stream);
    cuda::Staging staging(sorted.bytes());
    const auto items = train.items();
    const auto values = train.values();
    staging.upload(sorted, team, stream, [&](std::int64_t begin, std::int64_t end, Entry* out) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        *out++ = {marked_item(items[i], exponents[static_cast<std::size_t>(items[i])]), values[i]};
      }
    });
    launch_shuffle(sorted.data(), entries_.data(), offsets.data(), n_users_, seed_, stream);
    MF_CUDA(cudaStreamSynchronize(stream));  // before the sorted copy goes
  }

  Step step_at(double rate) const {
    return {static_cast<float>(rate), static_cast<float>(biased() ? mean_ : 0),
            keeps_at(rate, settings_.reg)};
  }

  Arrays arrays() {
    Arrays a;
    a.factors = settings_.factors;
    a.chunks = chunks_.data();
    a.bundles = bundles_;
    a.workers = workers_;
    a.entries = entries_.data();
    a.p = model_.p();
    a.q = model_.q();
    a.user_bias = model_.user_bias();
    a.item_bias = model_.item_bias();
    return a;
  }

  Settings settings_;
  Work work_;
  double mean_ = 0;
  std::uint64_t seed_ = 0;
  std::int32_t n_users_ = 0;
  std::int64_t bundles_ = 0;
  std::int64_t workers_ = 1;
  cudaStream_t stream_ = nullptr;
  DeviceBuffer<Chunk> chunks_;
  DeviceBuffer<Entry> entries_;
  cuda::StoredModel model_;
};

const RegisterFactory kTiled("sgd_tiled", [](const Params& params) {
  return std::make_unique<SgdTiled>(read_settings(params));
});

}  // namespace
}  // namespace mf::sgd_tiled
