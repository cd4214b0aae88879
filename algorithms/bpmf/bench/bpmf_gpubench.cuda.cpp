// Draws of bpmf on the Netflix look-alike, beside an iteration of als_fused, which forms the same
// systems.
#include <benchmark/benchmark.h>

#include "base/json/json.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf::bpmf {
namespace {

void add(const char* algorithm, const Json& changes) {
  cuda::add_epochs(algorithm, {"netflix", algorithm, changes, 4})
      ->Iterations(3)
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const int factors : {32, 64, 100, 128}) {
    add("als_fused", {{"factors", factors}});
    add("bpmf", {{"factors", factors}});
  }
  add("bpmf", {{"factors", 64}, {"center", "biases"}});
  add("bpmf", {{"factors", 64}, {"precision", "fp16x2"}});
  add("bpmf", {{"factors", 64}, {"alpha", 2}});
  return true;
}();

}  // namespace
}  // namespace mf::bpmf
