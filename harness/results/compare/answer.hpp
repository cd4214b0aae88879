// When a case was at its target, and how long its user had waited for that answer. The wait begins
// with loaded ratings, or with the file.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>

#include "harness/experiment/metric.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/results/meaning/epoch_times.hpp"

namespace mf {

inline constexpr double kNever = std::numeric_limits<double>::infinity();  // of a run without one

struct Answer {
  double train_s = 0;                     // training clock
  std::optional<double> answer_s;         // to_training_s + training; empty before the footer
  std::optional<double> file_to_model_s;  // FileToTraining + training; empty likewise
  std::optional<double> energy_j;         // of training; empty on the CPU and without NVML
};

// Prepare and transfer, with the share that an earlier case of the run had done: a case does not
// win by coming second. Empty if the footer lacks them.
std::optional<double> to_training_s(const Json& footer);

// From the start of the process to the factors in the host's memory, without training and
// evaluations.
struct FileToTraining {
  double seconds = 0;
  // Not measured, but the sum of the clocks start, load, prepare and transfer and of the shares
  // that earlier cases of the run had done. Older files need the sum, and so do cases that were not
  // the first of their process.
  bool summed = false;
};

// Empty before the footer, or if it lacks these clocks.
std::optional<FileToTraining> file_to_training(const ResultFile& file);

Answer answer_of(const ResultFile& file, const Json& point);  // at a trace point

// At the last trace point; empty without a trace.
std::optional<Answer> answer_at_end(const ResultFile& file);

// The first evaluated point that meets the target, and the answer there; empty if none does.
// Nothing is interpolated: between two points no one had a model.
std::optional<std::size_t> place_at(const ResultFile& file, const TargetSpec& target);
std::optional<Answer> answer_at(const ResultFile& file, const TargetSpec& target);

// Each evaluated point is a separate run from the start: the library cannot go on with a model.
bool restarts(const Json& header);

// By the footer; both empty before it.
EpochTimes epoch_times_of(const ResultFile& file);

// Whether the SM clock that a footer saw moved by more than 2 % of its highest value.
bool clock_moved(const Json& footer);

}  // namespace mf
