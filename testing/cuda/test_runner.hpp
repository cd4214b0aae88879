// Runs a device algorithm without the harness: for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/prepare.hpp"
#include "algorithms/core/ranks/ranked.hpp"
#include "algorithms/core/registry.hpp"
#include "base/view.hpp"

namespace mf::cuda {

struct TestRunner {
  Stream stream;
  ThreadTeam team{2};
  RankLoan of_rank;
  Context context;
  std::unique_ptr<Algorithm> algorithm;

  TestRunner(const std::string& name, const Params& params, const Ratings& train,
             const Model& initial, std::uint64_t seed = 1, Communicator* ranks = nullptr) {
    context.team = &team;
    of_rank.group = ranks;
    if (ranks != nullptr) context.ranks = &of_rank;
    context.seed = seed;
    context.stream = stream.get();
    algorithm = prepare_algorithm(name, params, train, initial, context);
  }

  OnRanks& of_ranks() { return dynamic_cast<OnRanks&>(*algorithm); }

  // Epochs first, first + 1, ... Returns their updates.
  std::int64_t run(std::int64_t first, std::int64_t count, double rate) {
    return algorithm->run_epochs({first, rate}, count, context);
  }

  Model model() {
    return packed_model(
        algorithm->factors(),
        [this](AlignedVector<float>& to, const float* from, std::int64_t stride, std::int32_t count,
               std::int32_t width) { to = rows(from, stride, count, width); });
  }

  // Rows without their padding, which is expected to be zero.
  AlignedVector<float> rows(const float* from, std::int64_t stride, std::int32_t count,
                            std::int32_t width) {
    AlignedVector<float> padded(stride * count);
    download(View<float>(padded), from, stream.get());
    AlignedVector<float> packed;
    for (std::int64_t i = 0; i < stride * count; ++i) {
      if (i % stride < width) {
        packed.push_back(padded[i]);
      } else {
        padding_is_zero = padding_is_zero && padded[i] == 0.0F;
      }
    }
    return packed;
  }

  bool padding_is_zero = true;
};

}  // namespace mf::cuda
