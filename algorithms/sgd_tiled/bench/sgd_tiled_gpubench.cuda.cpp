// A pass of sgd_tiled on the Netflix look-alike's train part, timed by CUDA events. Counters:
// updates a second, and the compulsory bytes a second.
#include "base/json/json.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf::sgd_tiled {
namespace {

constexpr int kPasses = 5;

void add(const Json& changes) {
  cuda::add_epochs("sgd_tiled", {"netflix", "sgd_tiled", changes})
      ->Iterations(kPasses)
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const int factors : {32, 64, 100, 128, 256, 512, 1024}) {
    for (const char* storage : {"fp16", "bf16", "fp32"}) {
      add({{"factors", factors}, {"storage", storage}});
    }
  }
  add({{"factors", 128}, {"rounding", "nearest"}});
  for (const int factors : {32, 64, 128}) add({{"factors", factors}, {"model", "biased"}});
  add({{"factors", 128}, {"writes", "store"}});
  add({{"factors", 128}, {"model", "biased"}, {"writes", "store"}});
  for (const int above : {0, 160000, 80000, 40000, 10000, 5000}) {
    add({{"factors", 128}, {"thin_above", above}});
  }
  for (const int chunk : {8, 16, 64, 128}) add({{"factors", 128}, {"chunk", chunk}});
  return true;
}();

}  // namespace
}  // namespace mf::sgd_tiled
