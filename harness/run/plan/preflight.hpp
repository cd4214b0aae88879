// The memory that a case takes, about, and why it cannot start, before anything is allocated for
// it.
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

// Before the data are loaded; nothing: their size is not known.
std::optional<CaseSizes> expected_sizes(const Case& item);

bool is_cached(const Case& item);  // its data

// Peaks of memory are within this factor of what follows (tests/test_plan.py).
inline constexpr double kPlanFactor = 1.25;

// VmHWM of this process from loading to the end of training.
double host_bytes(const Case& item, const CaseSizes& sizes);

// Of each device. `free` bytes bound what takes as many rows at once as fit; nothing: it takes one.
double device_bytes(const Case& item, const CaseSizes& sizes, std::optional<double> free = {});

// What to have of `free` bytes before it begins.
std::int64_t bytes_to_reserve(const Case& item, const CaseSizes& sizes, double free);

// R by rows and by columns, which stay on the device for the cases that follow.
double device_ratings_bytes(const ProblemShape& train);

// Whether the case leaves room for them.
bool leaves_room_for_ratings(const Case& item, const CaseSizes& sizes, double free);

// The memory of its own process; nothing without one.
std::optional<ProcessNeed> process_need(const Case& item, const ProblemShape& shape);

// "its process needs 12.3 GiB of memory, 8 GiB are for it (memory_gb); ...", or nothing.
std::optional<std::string> why_not_in_process(const std::optional<ProcessNeed>& need);

// "ebgtg needs CUDA; this build lacks it", "ebgtg needs a CUDA device: no CUDA-capable device is
// detected", or nothing.
std::optional<std::string> why_no_implementation(const Case& item);

// "als_fused needs a device of compute capability 8.0; this one has 7.5", or nothing. `compute` is
// 75 for 7.5.
std::optional<std::string> why_too_old(const AlgorithmInfo& info, int compute);

// "needs at least 12.3 GiB on the device, 9.8 GiB are free; ...", or nothing, for a case that takes
// about so many bytes.
std::optional<std::string> why_not_on_device(double bytes, double free);

// "needs at least 12.3 GiB of memory, 9.8 GiB are available (/sys/fs/cgroup/box/memory.max); ...",
// or nothing.
std::optional<std::string> why_not_in_memory(double least, const MemoryBound& available);

// Throws Error(memory) if the ratings of the case surely do not fit.
void refuse_to_load(const Case& item);

// Why the loaded case does not start. `device` is null for the CPU, of whose memory `free` bytes
// are left; `held_bytes` of the process's memory are there already: files for it.
std::optional<Refusal> refuse(const Case& item, const CaseSizes& sizes, DeviceClock* device,
                              double free, double held_bytes = 0);

}  // namespace mf
