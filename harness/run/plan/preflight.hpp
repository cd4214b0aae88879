// Estimates the memory of a case. Refuses a case that surely fails, before anything is
// allocated.
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

// The sizes before the data are loaded; empty if unknown.
std::optional<CaseSizes> expected_sizes(const Case& item);

bool is_cached(const Case& item);  // its data

// Measured peaks are within this factor of the estimates (tests/test_plan.py).
inline constexpr double kPlanFactor = 1.25;

// Memory of the host: VmHWM of this process from loading to the end of training.
double host_bytes(const Case& item, const CaseSizes& sizes);

// Memory of each device; 0 for the CPU. An algorithm that takes as many rows at once as fit takes
// at most `free` bytes. If `free` is empty, it takes one row.
double device_bytes(const Case& item, const CaseSizes& sizes, std::optional<double> free = {});

// The part of `free` bytes to reserve before the case begins.
std::int64_t bytes_to_reserve(const Case& item, const CaseSizes& sizes, double free);

// R by rows and by columns. It stays on the device for the next cases if there is room.
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

// Refuses a case that surely fails here. It takes at least `least` bytes of the host, including its
// process, and the device has `free` bytes left (empty if unknown).
std::optional<Refusal> refuse_surely(const Case& item, const CaseSizes& sizes, double least,
                                     std::optional<double> free);

// Why the loaded case does not start. `device` is null for the CPU, of whose memory `free` bytes
// are left; `held_bytes` of the process's memory are there already: files for it.
std::optional<Refusal> refuse(const Case& item, const CaseSizes& sizes, DeviceClock* device,
                              double free, double held_bytes = 0);

}  // namespace mf
