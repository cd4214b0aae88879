// Estimates the memory of a case, and refuses before anything is allocated a case that surely
// fails.
#pragma once

#include <optional>
#include <string>

#include "algorithms/core/foreign.hpp"
#include "base/host/memory_limit.hpp"
#include "harness/device/device_clock.hpp"
#include "harness/experiment/spec.hpp"
#include "harness/experiment/status.hpp"

namespace mf {

struct Refusal {
  Status status;  // skipped, oom
  std::string reason;
};

struct CaseSizes {
  ProblemShape train;
  std::int64_t others = 0;  // ratings of the other parts
  bool from_files = false;  // they are read and sorted
  bool kept = false;        // all ratings stay beside their parts, for another split
  int slices = 1;           // ranks that load a share of the ratings each
};

// Before the data are loaded; empty if their size is unknown.
std::optional<CaseSizes> expected_sizes(const Case& item);

bool is_cached(const Case& item);  // its data

// Measured peaks are within this factor of the estimates (tests/test_plan.py).
inline constexpr double kPlanFactor = 1.25;

// Of the host: VmHWM of this process from loading to the end of training.
double host_bytes(const Case& item, const CaseSizes& sizes);

// Of each device; 0 for the CPU. `free` bytes bound an algorithm that takes as many rows at once as
// fit; empty: it takes one.
double device_bytes(const Case& item, const CaseSizes& sizes, std::optional<double> free = {});

// To have of `free` bytes before the case begins.
std::int64_t bytes_to_reserve(const Case& item, const CaseSizes& sizes, double free);

// R by rows and by columns, which stay on the device for the next cases, if there is room.
double device_ratings_bytes(const ProblemShape& train);
bool leaves_room_for_ratings(const Case& item, const CaseSizes& sizes, double free);

// The memory of the case's own process; empty without one.
std::optional<ProcessNeed> process_need(const Case& item, const ProblemShape& shape);

// "ebgtg needs CUDA; this build lacks it", "ebgtg needs a CUDA device: no CUDA-capable device is
// detected", or nothing.
std::optional<std::string> why_no_implementation(const Case& item);

// "als_fused needs a device of compute capability 8.0; this one has 7.5" (`compute` 75), or
// nothing.
std::optional<std::string> why_too_old(const AlgorithmInfo& info, int compute);

// "needs at least 12.3 GiB of memory, 9.8 GiB are available (ulimit -v); ...", or nothing.
std::optional<std::string> why_not_in_memory(double least, const MemoryBound& available);

// Throws Error(memory) if the ratings of the case surely do not fit.
void refuse_to_load(const Case& item);

// If the case surely fails here: it takes at least `least` bytes of the host, its process included,
// and `free` bytes are left on the device, if that is known.
std::optional<Refusal> refuse_surely(const Case& item, const CaseSizes& sizes, double least,
                                     std::optional<double> free);

// Why the loaded case does not start. `device` is null for the CPU, of whose memory `free` bytes
// are left; `held_bytes` of the process's memory are there already: files for it.
std::optional<Refusal> refuse(const Case& item, const CaseSizes& sizes, DeviceClock* device,
                              double free, double held_bytes = 0);

}  // namespace mf
