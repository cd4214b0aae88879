// Why a case cannot start, before anything is allocated for it.
#pragma once

#include <optional>
#include <string>

#include "algorithms/core/foreign.hpp"
#include "base/host/memory_limit.hpp"
#include "datasets/split/split.hpp"
#include "harness/device/device_clock.hpp"
#include "harness/run/plan/host_need.hpp"
#include "harness/experiment/spec.hpp"
#include "harness/experiment/status.hpp"

namespace mf {

class SharedRatings;

struct Refusal {
  Status status;  // skipped, oom
  std::string reason;
};

// Sizes of what is evaluated on the device.
struct EvaluatedShape {
  std::int64_t n_users = 0;
  std::int64_t n_items = 0;
  std::int64_t ratings = 0;  // of all parts that are evaluated
};

// What the evaluator holds on the device: a triple for each rating, whether the training part knows
// a user or item (a bit), and the sums of its thread blocks: of 2048 blocks, or of as many as take
// 8192 ratings each (loss_chunk() in loss_kernels.cuh).
constexpr double device_evaluator_bytes(const EvaluatedShape& shape) {
  constexpr double kTriple = 12, kSums = 16;
  const auto ratings = static_cast<double>(shape.ratings);
  return kTriple * ratings + kSums * (2048 + ratings / 8192) +
         static_cast<double>(shape.n_users + shape.n_items) / 8 + 8;
}

// The train RMSE is asked for, or watched by a rule.
bool needs_train_errors(const Case& item);

// What a case finds of the device.
struct DevicePlace {
  bool keeps_ratings = false;  // R stays there for other cases, and counts
  bool has_columns = false;    // by columns, too, as an earlier case asked for them
  // Without what is kept; nothing: not known, and an algorithm that takes as much as there is
  // counts with the least it works with.
  std::optional<double> free_bytes;
  double held_bytes = 0;  // of what is kept, which are there already
};

// The most of the device's memory that the case takes; 0 for an algorithm of the CPU. What comes
// one after the other does not add up: prepare, then what is trained beside what the evaluator has.
double device_bytes(const Case& item, const ProblemShape& shape, std::int64_t other_ratings,
                    const DevicePlace& place = {});

// What must be free for it to start: the least it works with, and what libraries take.
double least_device_bytes(const Case& item, const ProblemShape& shape, std::int64_t other_ratings,
                          const DevicePlace& place = {});

bool needs_device(const Case& item);

// It trains in a process that mfbench starts (core/foreign.hpp).
bool has_own_process(const Case& item);
bool repeats_epochs(const Case& item);  // ForeignInfo::repeats_epochs

// The memory of that process; nothing without one.
std::optional<ProcessNeed> process_need(const Case& item, const ProblemShape& shape);
double known_bytes(const std::optional<ProcessNeed>& need);

// "its process needs 12.3 GiB of memory, 8 GiB are for it (memory_gb); ...", or nothing.
std::optional<std::string> why_not_in_process(const std::optional<ProcessNeed>& need);

// "ebgtg needs CUDA; this build lacks it", "ebgtg needs a CUDA device: no CUDA-capable device is
// detected", or nothing.
std::optional<std::string> why_no_implementation(const Case& item);

// "als_fused needs a device of compute capability 8.0; this one has 7.5", or nothing. `compute` is
// 75 for 7.5.
std::optional<std::string> why_too_old(const AlgorithmInfo& info, int compute);

// "needs 12.3 GiB on the device, 9.8 GiB are free; ...", or nothing. `free` may be unknown.
std::optional<std::string> why_not_on_device(double need, std::optional<double> free);

// "the test part is empty: ...; take a larger share ...", or nothing: what a case learns from, is
// judged by or watches must have ratings.
std::optional<std::string> why_not_evaluated(const Case& item, const PartSizes& sizes);

// "needs 12.3 GiB of memory, 9.8 GiB are available (/sys/fs/cgroup/box/memory.max); ...", or
// nothing. Fewer factors help where the need is not that of the ratings.
enum class MemoryOf { ratings, beyond_ratings, both };
std::optional<std::string> why_not_in_memory(double need, const MemoryBound& available,
                                             MemoryOf what = MemoryOf::both);

// Where the data of a case come from that are not at hand.
DataFrom source_of_data(const Case& item);

// The data of a case as far as is known before they are loaded; nothing: their size is not.
std::optional<HostData> expected_data(const Case& item);

// Throws Error(memory) where the ratings of the case and their parts surely do not fit. Sets of
// unknown size pass.
void refuse_to_load(const Case& item);

// Whether the case leaves so much of the device free that R by rows and by columns may stay there,
// for the cases that follow; `held_bytes` of them are there already, and not free.
bool leaves_room_for_ratings(const Case& item, const ProblemShape& shape,
                             std::int64_t other_ratings, double held_bytes, double free_bytes);

// What the case finds of the device, where earlier ones may have left their ratings: these stay, or
// its own do, where they are `wanted` and not in its way; else they go.
DevicePlace share_device(const Case& item, const ProblemShape& shape, std::int64_t other_ratings,
                         bool wanted, SharedRatings& left, DeviceClock& device);

// `other_ratings` are those of the test and validation parts; `device` is null for the CPU. For the
// memory, `held_bytes` are there already: files for its process. `free_bytes` of the device where
// it has been asked for them, which takes the driver its time.
std::optional<Refusal> refuse(const Case& item, const ProblemShape& shape,
                              std::int64_t other_ratings, DeviceClock* device,
                              double held_bytes = 0, std::optional<double> free_bytes = {});

}  // namespace mf
