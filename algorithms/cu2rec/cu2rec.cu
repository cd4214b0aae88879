// sgd_atomic, ebltg and ebgtg on the device.
#include <cuda_runtime.h>

#include <algorithm>
#include <optional>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/staging.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/cu2rec/kernels.hpp"
#include "algorithms/cu2rec/settings.hpp"

namespace mf::cu2rec {
namespace {

// Iterations of a captured graph. Even, so that swapped buffers are where they were.
constexpr int kGraphIterations = 64;

using cuda::DeviceBuffer;

// Users of a warp: as many as share a draw well, but enough warps to fill the device.
int choose_users_per_warp(const Settings& settings, std::int32_t n_users) {
  if (settings.users_per_warp > 0) return settings.users_per_warp;
  int device = 0;
  int processors = 0;
  MF_CUDA(cudaGetDevice(&device));
  MF_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  constexpr int kWarpsAProcessor = 128;
  for (const int users : {16, 8, 4, 2}) {
    if (n_users / users >= processors * kWarpsAProcessor) return users;
  }
  return 1;
}

class Cu2rec : public Algorithm {
 public:
  Cu2rec(ItemRule rule, const Settings& settings) : rule_(rule), settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::biased, settings_.factors, train, initial);
    work_ = iteration_work(settings_, train);
    mean_ = initial.mean;
    shape_.rule = rule_;
    shape_.mapping = settings_.mapping;
    shape_.threads_per_block = settings_.threads_per_block;
    shape_.users_per_warp = choose_users_per_warp(settings_, train.n_users());
    seed_ = context.seed;
    n_users_ = train.n_users();
    n_items_ = train.n_items();
    const auto stream = static_cast<cudaStream_t>(context.stream);
    {
      const PhaseScope phase(context.phases, "transfer");
      cuda::Staging staging(largest_upload(train));
      upload_ratings(train, staging, *context.team, stream);
      upload_model(initial, staging, *context.team, stream);
    }
    set_up_draws(stream);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    return run_epochs(args, 1, context);
  }

  std::int64_t run_epochs(const EpochArgs& first, std::int64_t count, Context& context) override {
    const auto stream = static_cast<cudaStream_t>(context.stream);
    set_hyper(hyper_at(first.learning_rate), stream);
    std::int64_t done = 0;
    if (settings_.graph && count >= kGraphIterations) done = replay(first.epoch, count, stream);
    for (; done < count; ++done) {
      const std::int64_t number = first.epoch + done;
      launch_iteration(shape_, arrays(),
                       {number, stride_offset(settings_.stride, number, std::max(n_users_, 1))},
                       stream);
      swap_items();
    }
    return count * static_cast<std::int64_t>(work_.updates);
  }

  FactorView factors() override {
    FactorView view;
    view.location = Location::device;
    view.n_users = n_users_;
    view.n_items = n_items_;
    view.factors = settings_.factors;
    view.p = p_.data();
    view.q = q_[current_].data();
    view.p_stride = view.q_stride = row_stride(settings_.factors);
    view.user_bias = user_bias_.data();
    view.item_bias = item_bias_[current_].data();
    view.mean = mean_;
    return view;
  }

  Work work_per_epoch() const override { return work_; }

 private:
  bool swaps() const { return settings_.buffering == Buffering::swap; }

  std::size_t largest_upload(const Ratings& train) const {
    const std::int64_t rows = std::max(n_users_, n_items_) * row_stride(settings_.factors);
    return std::max(static_cast<std::size_t>(train.nnz()) * sizeof(Entry),
                    static_cast<std::size_t>(rows) * sizeof(float));
  }

  void upload_ratings(const Ratings& train, cuda::Staging& staging, ThreadTeam& team,
                      cudaStream_t stream) {
    user_offsets_ = cuda::upload(train.user_offsets(), stream);
    entries_ = DeviceBuffer<Entry>(static_cast<std::size_t>(train.nnz()));
    const auto items = train.items();
    const auto values = train.values();
    staging.upload(entries_, team, stream, [&](std::int64_t begin, std::int64_t end, Entry* out) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        *out++ = {items[i], values[i]};
      }
    });
  }

  void upload_model(const Model& initial, cuda::Staging& staging, ThreadTeam& team,
                    cudaStream_t stream) {
    const std::int64_t stride = row_stride(settings_.factors);
    const auto rows = [&](DeviceBuffer<float>& to, const AlignedVector<float>& from,
                          std::int32_t count) {
      to = DeviceBuffer<float>(static_cast<std::size_t>(count * stride));
      cuda::upload_rows(staging, to, from.data(), settings_.factors, stride, team, stream);
    };
    rows(p_, initial.p, n_users_);
    user_bias_ = cuda::upload(View<const float>(initial.user_bias), stream);
    for (int copy = 0; copy < (swaps() ? 2 : 1); ++copy) {
      rows(q_[copy], initial.q, n_items_);
      item_bias_[copy] = cuda::upload(View<const float>(initial.item_bias), stream);
    }
  }

  void set_up_draws(cudaStream_t stream) {
    claimed_in_ = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(n_items_));
    if (n_items_ > 0) {
      MF_CUDA(cudaMemsetAsync(claimed_in_.data(), 0, claimed_in_.bytes(), stream));
    }
    if (settings_.generator == Generator::curand) {
      states_ = DeviceBuffer<std::byte>(static_cast<std::size_t>(n_users_) * state_bytes());
      launch_init_states(states(), n_users_, seed_, stream);
    }
    schedule_ = DeviceBuffer<Iteration>(kGraphIterations);
    next_ = DeviceBuffer<std::int64_t>(1);
  }

  curandStateXORWOW* states() {
    return states_.empty() ? nullptr : reinterpret_cast<curandStateXORWOW*>(states_.data());
  }

  Hyper hyper_at(double rate) const {
    const Regularizers& reg = settings_.reg;
    Hyper hyper;
    hyper.rate = static_cast<float>(rate);
    hyper.mean = static_cast<float>(mean_);
    hyper.shrink_p = static_cast<float>(rate * reg.p);
    hyper.shrink_q = static_cast<float>(rate * reg.q);
    hyper.shrink_user_bias = static_cast<float>(rate * reg.user_bias);
    hyper.shrink_item_bias = static_cast<float>(rate * reg.item_bias);
    return hyper;
  }

  Arrays arrays() {
    const int other = swaps() ? 1 - current_ : current_;
    Arrays a;
    a.n_users = n_users_;
    a.n_items = n_items_;
    a.factors = settings_.factors;
    a.user_offsets = user_offsets_.data();
    a.entries = entries_.data();
    a.p = p_.data();
    a.user_bias = user_bias_.data();
    a.q_from = q_[current_].data();
    a.q_to = q_[other].data();
    a.item_bias_from = item_bias_[current_].data();
    a.item_bias_to = item_bias_[other].data();
    a.states = states();
    a.seed = seed_;
    a.claimed_in = claimed_in_.data();
    return a;
  }

  void swap_items() {
    if (swaps()) current_ = 1 - current_;
  }

  // Whole graphs of kGraphIterations; returns how many iterations they were.
  std::int64_t replay(std::int64_t first, std::int64_t count, cudaStream_t stream) {
    cuda::Graph& graph = graphs_[current_];
    if (!graph.captured()) {
      graph.capture(stream, [&] {
        launch_schedule(schedule_.data(), kGraphIterations, next_.data(), settings_.stride,
                        n_users_, stream);
        for (int k = 0; k < kGraphIterations; ++k) {
          launch_iteration(shape_, arrays(), schedule_.data() + k, stream);
          swap_items();
        }
      });
    }
    MF_CUDA(cudaMemcpyAsync(next_.data(), &first, sizeof(first), cudaMemcpyHostToDevice, stream));
    std::int64_t done = 0;
    for (; done + kGraphIterations <= count; done += kGraphIterations) graph.launch(stream);
    return done;
  }

  ItemRule rule_;
  Settings settings_;
  LaunchShape shape_;
  Work work_;
  double mean_ = 0;
  std::uint64_t seed_ = 0;
  std::int32_t n_users_ = 0;
  std::int32_t n_items_ = 0;
  DeviceBuffer<std::int64_t> user_offsets_;
  DeviceBuffer<Entry> entries_;
  DeviceBuffer<float> p_, user_bias_;
  DeviceBuffer<float> q_[2], item_bias_[2];
  DeviceBuffer<std::byte> states_;
  DeviceBuffer<std::int32_t> claimed_in_;
  DeviceBuffer<Iteration> schedule_;
  DeviceBuffer<std::int64_t> next_;
  cuda::Graph graphs_[2];  // by the copy of the items that is current at the start
  int current_ = 0;
};

AlgorithmFactory factory(ItemRule rule) {
  return [rule](const Params& params) {
    return std::make_unique<Cu2rec>(rule, read_settings(params));
  };
}

const RegisterFactory kAtomic("sgd_atomic", factory(ItemRule::atomic));
const RegisterFactory kLastWriter("ebltg", factory(ItemRule::last_writer));
const RegisterFactory kFirstWriter("ebgtg", factory(ItemRule::first_writer));

}  // namespace
}  // namespace mf::cu2rec
