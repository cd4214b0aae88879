// Thread counts of the micro-benchmarks: 1, 2 and 16, up to the machine's number.
#pragma once

#include <benchmark/benchmark.h>

#include "base/threads.hpp"

namespace mf {

inline void thread_counts(benchmark::internal::Benchmark* bench) {
  for (const int threads : {1, 2, 16}) {
    if (threads <= hardware_threads()) bench->Arg(threads);
  }
}

}  // namespace mf
