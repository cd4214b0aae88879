// sgd_atomic, ebltg and ebgtg on the device.
#include <curand_kernel.h>

#include <memory>
#include <utility>

#include "algorithms/core/cuda/device_model.hpp"
#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/cu2rec/kernels.hpp"

namespace mf::cu2rec {
namespace {

// Iterations of a captured graph. Even, so that swapped buffers are back in place.
constexpr int kGraphIterations = 64;

static_assert(sizeof(curandStateXORWOW) == kStateBytes);

using cuda::DeviceBuffer;

// As many as share a draw well, but enough warps to fill the device.
int choose_users_per_warp(std::int32_t n_users) {
  constexpr int kWarpsAProcessor = 128;
  const int warps = cuda::multiprocessors() * kWarpsAProcessor;
  for (const int users : {16, 8, 4, 2}) {
    if (n_users / users >= warps) return users;
  }
  return 1;
}

class Cu2rec : public Algorithm {
 public:
  explicit Cu2rec(const Settings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::biased, settings_.factors, train, initial);
    if (settings_.users_per_warp == 0) {
      settings_.users_per_warp = choose_users_per_warp(train.n_users());
    }
    ratings_ = cuda::ratings_on_device(train, context);
    work_ = iteration_work(settings_, ratings_->rating_users(context.stream),
                           ratings_->rated_items(context.stream));
    cuda::Uploader uploader(*context.team, context.stream);
    start(initial, uploader);
    set_up_draws(train, context.seed, context.stream);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    return run_epochs(args, 1, context);
  }

  std::int64_t run_epochs(const EpochArgs& first, std::int64_t count, Context& context) override {
    const cudaStream_t stream = context.stream;
    set_step(step_at(first.learning_rate, settings_.reg, model_.shape().mean), stream);
    std::int64_t done = 0;
    if (settings_.graph && count >= kGraphIterations) done = replay(first.epoch, count, stream);
    for (; done < count; ++done) {
      iterate({iteration_at(first.epoch + done, settings_.stride, arrays_.n_users)}, stream);
    }
    return count * static_cast<std::int64_t>(work_.updates);
  }

  FactorView factors() override {
    return make_view(model_.shape(), Location::device, arrays_.p, arrays_.from.q, model_.stride(),
                     arrays_.user_bias, arrays_.from.bias);
  }

  Work work_per_epoch() const override { return work_; }

 private:
  void start(const Model& initial, cuda::Uploader& uploader) {
    const cuda::RatingsOfRows users = ratings_->rows();
    model_ = cuda::DeviceModel<float>(initial, uploader);
    arrays_.n_users = ratings_->n_users();
    arrays_.factors = settings_.factors;
    arrays_.vector_atomics = settings_.atomics == Atomics::vector;
    arrays_.user_offsets = users.offsets;
    arrays_.ratings = users.ratings;
    arrays_.p = model_.p();
    arrays_.user_bias = model_.user_bias();
    arrays_.from = arrays_.to = {model_.q(), model_.item_bias()};
    if (settings_.buffering == Buffering::in_place) return;
    other_q_ = cuda::initial_rows<float>(initial, cuda::RowsOf::items, model_.stride(), uploader);
    other_item_bias_ = uploader.array(View<const float>(initial.item_bias));
    arrays_.to = {other_q_.data(), other_item_bias_.data()};
  }

  void set_up_draws(const Ratings& train, std::uint64_t seed, cudaStream_t stream) {
    claimed_in_ = DeviceBuffer<std::int32_t>(train.n_items());
    if (!claimed_in_.empty()) {
      MF_CUDA(cudaMemsetAsync(claimed_in_.data(), 0, claimed_in_.bytes(), stream));
    }
    if (settings_.generator == Generator::curand) {
      states_ = DeviceBuffer<curandStateXORWOW>(train.n_users());
      launch_init_states(states_.data(), train.n_users(), seed, stream);
    }
    arrays_.claimed_in = claimed_in_.data();
    arrays_.states = states_.data();
    arrays_.seed = seed;
    schedule_ = DeviceBuffer<Iteration>(kGraphIterations);
    next_ = DeviceBuffer<std::int64_t>(1);
  }

  void iterate(const IterationSource& source, cudaStream_t stream) {
    launch_iteration(settings_, arrays_, source, stream);
    std::swap(arrays_.from, arrays_.to);
  }

  // Whole graphs of kGraphIterations; returns how many iterations they were.
  std::int64_t replay(std::int64_t first, std::int64_t count, cudaStream_t stream) {
    cuda::Graph& graph = graphs_[arrays_.from.q == model_.q() ? 0 : 1];
    if (!graph.captured()) {
      graph.capture(stream, [&] {
        launch_schedule(schedule_.data(), kGraphIterations, next_.data(), settings_.stride,
                        arrays_.n_users, stream);
        for (int k = 0; k < kGraphIterations; ++k) iterate({{}, schedule_.data() + k}, stream);
      });
    }
    cuda::copy_to_device(next_, View<const std::int64_t>(&first, 1), stream);
    std::int64_t done = 0;
    for (; done + kGraphIterations <= count; done += kGraphIterations) graph.launch(stream);
    return done;
  }

  Settings settings_;
  Work work_;
  std::shared_ptr<cuda::DeviceRatings> ratings_;
  cuda::DeviceModel<float> model_;
  DeviceBuffer<float> other_q_, other_item_bias_;  // Buffering::swap: the second copy of the items
  DeviceBuffer<curandStateXORWOW> states_;
  DeviceBuffer<std::int32_t> claimed_in_;
  DeviceBuffer<Iteration> schedule_;
  DeviceBuffer<std::int64_t> next_;
  Arrays arrays_;          // into the above
  cuda::Graph graphs_[2];  // by the copy of the items that is read first
};

RegisterFactory factory(ItemRule rule) {
  return {kItemRules.of(rule), [rule](const Params& params) {
            return std::make_unique<Cu2rec>(read_settings(rule, params));
          }};
}

const RegisterFactory kAtomic = factory(ItemRule::atomic);
const RegisterFactory kLastWriter = factory(ItemRule::last_writer);
const RegisterFactory kFirstWriter = factory(ItemRule::first_writer);

}  // namespace
}  // namespace mf::cu2rec
