// A pass of batch_hogwild and wavefront on the Netflix look-alike's train part, timed by CUDA
// events. Counters: updates a second, and the compulsory bytes a second.
#include "base/json/json.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf::cumf_sgd {
namespace {

constexpr int kPasses = 5;

void add(const std::string& name, const Json& changes) {
  cuda::add_epochs(name, {"netflix", name, changes})
      ->Iterations(kPasses)
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const int factors : {32, 64, 100, 128, 256}) {
    for (const char* storage : {"fp16", "fp32"}) {
      for (const char* mapping : {"warp", "group"}) {
        add("batch_hogwild", {{"factors", factors}, {"storage", storage}, {"mapping", mapping}});
      }
      add("wavefront", {{"factors", factors}, {"storage", storage}});
    }
  }
  for (const int factors : {512, 1024}) {
    for (const char* storage : {"fp16", "fp32"}) {
      add("batch_hogwild", {{"factors", factors}, {"storage", storage}});
    }
  }
  for (const int workers : {2000, 8000, 16000}) {
    add("batch_hogwild", {{"factors", 128}, {"workers", workers}, {"mapping", "group"}});
  }
  for (const int run : {64, 1024}) add("batch_hogwild", {{"factors", 128}, {"run", run}});
  for (const int workers : {256, 1500, 2000})
    add("wavefront", {{"factors", 128}, {"workers", workers}});
  return true;
}();

}  // namespace
}  // namespace mf::cumf_sgd
