// The time of an iteration of ebgtg, a thread a user, without CUDA graphs, by its registers and the
// memory of its step:
//   kernel/like:<set>/factors:<f>/variant:as_it_is       42 registers, the step in constant memory
//   kernel/.../variant:registers_32, registers_24        no more registers than that
//   kernel/.../variant:global_step                       the step in global memory
// On the train part of look-alikes; times by CUDA events, of one iteration.
#include <curand_kernel.h>

#include <optional>

#include "algorithms/core/cuda/device_model.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/cu2rec/bench/variants.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf::cu2rec {
namespace {

constexpr std::int64_t kIterations = 128;  // of the algorithm, in one timed run
constexpr int kRepeats = 5;                // timed runs; the mean is reported
constexpr std::int64_t kStride = 250;

// ebgtg, prepared as cu2rec.cuda.cpp does.
struct Prepared {
  std::shared_ptr<const Split> split;
  cuda::Stream stream;
  ThreadTeam team{hardware_threads()};
  cuda::DeviceRatings ratings;
  cuda::DeviceModel<float> model;
  cuda::DeviceBuffer<float> other_q, other_item_bias;
  cuda::DeviceBuffer<curandStateXORWOW> states;
  cuda::DeviceBuffer<std::int32_t> claimed_in;
  cuda::DeviceBuffer<sgd::Step<float>> step;
  Settings settings;
  Arrays arrays;
  std::int64_t number = 0;

  Prepared(const std::string& like, std::int32_t factors)
      : split(cuda::look_alike_split(like)),
        ratings(split->train, team, stream.get()),
        states(split->train.n_users()),
        claimed_in(split->train.n_items()),
        step(1),
        settings(read_settings(ItemRule::first_writer,
                               default_params(find_algorithm("ebgtg").params,
                                              {{"factors", factors}, {"stride", kStride}}))) {
    const Ratings& train = split->train;
    const float mean = static_cast<float>(mean_rating(train));
    const Model initial = initial_model(train.n_users(), train.n_items(), factors,
                                        ModelKind::biased, mean, {}, hardware_threads());
    cuda::Uploader uploader(team, stream.get());
    model = cuda::DeviceModel<float>(initial, uploader);
    other_q = cuda::initial_rows<float>(initial, cuda::RowsOf::items, model.stride(), uploader);
    other_item_bias = uploader.array(View<const float>(initial.item_bias));
    launch_init_states(states.data(), train.n_users(), 1, stream.get());
    MF_CUDA(cudaMemsetAsync(claimed_in.data(), 0, claimed_in.bytes(), stream.get()));
    const sgd::Step<float> values = step_at(0.005, settings.reg, mean);
    set_step(values, stream.get());
    set_variant_step(values, stream.get());
    cuda::copy_to_device(step, View<const sgd::Step<float>>(&values, 1), stream.get());
    const cuda::RatingsOfRows rows = ratings.rows();
    arrays.n_users = train.n_users();
    arrays.factors = factors;
    arrays.user_offsets = rows.offsets;
    arrays.ratings = rows.ratings;
    arrays.p = model.p();
    arrays.user_bias = model.user_bias();
    arrays.from = {model.q(), model.item_bias()};
    arrays.to = {other_q.data(), other_item_bias.data()};
    arrays.states = states.data();
    arrays.claimed_in = claimed_in.data();
    MF_CUDA(cudaStreamSynchronize(stream.get()));
  }

  // No variant: the kernel of the algorithm.
  double run(std::optional<Variant> variant) {
    const double seconds = cuda::device_seconds(stream, [&] {
      for (std::int64_t i = 0; i < kIterations; ++i) {
        const IterationSource source{iteration_at(++number, kStride, arrays.n_users)};
        if (variant) {
          launch_variant(*variant, settings, arrays, source, step.data(), stream.get());
        } else {
          launch_iteration(settings, arrays, source, stream.get());
        }
        std::swap(arrays.from, arrays.to);
      }
    });
    return seconds / static_cast<double>(kIterations);
  }
};

void kernel(benchmark::State& state, const std::string& like, std::int32_t factors,
            std::optional<Variant> variant) {
  Prepared prepared(like, factors);
  prepared.run(variant);
  for (auto _ : state) state.SetIterationTime(prepared.run(variant));
}

[[maybe_unused]] const bool kRegistered = [] {
  const std::pair<const char*, std::optional<Variant>> variants[] = {
      {"as_it_is", std::nullopt},
      {"registers_32", Variant::registers_32},
      {"registers_24", Variant::registers_24},
      {"global_step", Variant::global_step}};
  for (const char* like : {"ml-100k", "ml-20m"}) {
    for (const int factors : {50, 300}) {
      for (const auto& [name, variant] : variants) {
        const std::string label = std::string("kernel/like:") + like +
                                  "/factors:" + std::to_string(factors) + "/variant:" + name;
        benchmark::RegisterBenchmark(
            label.c_str(),
            [=, v = variant](benchmark::State& state) { kernel(state, like, factors, v); })
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond)
            ->Iterations(kRepeats);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace mf::cu2rec
