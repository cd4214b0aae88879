// Settings of a micro-benchmark from the environment.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "base/threads.hpp"
#include "datasets/synthetic/synthetic.hpp"

namespace mf {

inline std::string env(const char* name, const std::string& fallback) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : fallback;
}

// "1,2,16"
inline std::vector<int> int_list(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) numbers.push_back(std::stoi(item));
  return numbers;
}

// $MFBENCH_BENCH_RATINGS ("100000000"), else the benchmark's default.
inline std::int64_t bench_ratings(std::int64_t by_default) {
  const char* own = std::getenv("MFBENCH_BENCH_RATINGS");
  return own == nullptr || *own == '\0' ? by_default : std::stoll(own);
}

// $MFBENCH_BENCH_THREADS ("1,2,16"), else one thread and as many as the machine has.
inline std::vector<int> bench_threads() {
  const std::string all = std::to_string(hardware_threads());
  return int_list(env("MFBENCH_BENCH_THREADS", hardware_threads() > 1 ? "1," + all : all));
}

// The look-alike that $MFBENCH_BENCH_LIKE and $MFBENCH_BENCH_SCALE name, else the benchmark's. It
// is made when the first benchmark needs it, and kept.
inline const Ratings& bench_look_alike(const std::string& like, const std::string& scale) {
  static const Dataset data =
      make_look_alike(env("MFBENCH_BENCH_LIKE", like), std::stod(env("MFBENCH_BENCH_SCALE", scale)),
                      1, hardware_threads());
  return data.ratings;
}

// By the wall clock: threads of a team do the work.
inline void add_bench(const std::string& name, const std::function<void(benchmark::State&)>& body) {
  benchmark::RegisterBenchmark(name.c_str(), body)->UseRealTime()->Unit(benchmark::kMillisecond);
}

}  // namespace mf
