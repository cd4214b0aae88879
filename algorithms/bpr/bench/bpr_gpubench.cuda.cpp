// Epochs of bpr and bpr_tiled on look-alikes' train parts, all ratings observed, timed by CUDA
// events. Counters: triples a second, and the compulsory bytes a second.
#include "base/json/json.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf::bpr {
namespace {

void add(const std::string& like, const std::string& name, const Json& changes) {
  cuda::add_epochs(name + "/" + like, {like, name, changes})
      ->Iterations(5)
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const char* like : {"netflix", "ml-20m"}) {
    for (const int factors : {32, 64, 128, 256}) {
      add(like, "bpr", {{"factors", factors}});
      add(like, "bpr_tiled", {{"factors", factors}});
    }
    for (const char* loss : {"warp", "logistic"}) {
      add(like, "bpr_tiled", {{"factors", 128}, {"loss", loss}});
    }
    add(like, "bpr_tiled", {{"factors", 128}, {"negatives", "popular"}});
    add(like, "bpr_tiled", {{"factors", 128}, {"rounding", "nearest"}});
    add(like, "bpr_tiled", {{"factors", 128}, {"storage", "fp32"}});
    for (const int workers : {1 << 10, 1 << 12, 1 << 14}) {
      add(like, "bpr_tiled", {{"factors", 128}, {"workers", workers}});
    }
  }
  return true;
}();

}  // namespace
}  // namespace mf::bpr
