// The clocks of a case: every second of its wall time is on one of them, and what is not is said.
#pragma once

#include "harness/results/meaning/ranges.hpp"

namespace mf {

// The ranges that are clocks, where no other but the case encloses them. "transfer" is one within
// kPrepareRange, a "start" in there counts for kStartRange, and the training clock has its own
// (harness/run/training_clock.hpp).
inline constexpr const char* kStartRange = "start";          // the device, what a run makes once
inline constexpr const char* kLoadRange = "load";            // data, split, facts of the split
inline constexpr const char* kPrepareRange = "prepare";      // initial factors, the algorithm
inline constexpr const char* kEvaluateRange = "evaluate";    // one a trace point
inline constexpr const char* kEvaluatorRange = "evaluator";  // what evaluations need made
inline constexpr const char* kWatchRange = "watch";  // readings of machine and device, marks
inline constexpr const char* kSaveRange = "save";    // lines of the result, the model

struct CaseClocks {
  double start_s = 0;
  double load_s = 0;
  double prepare_s = 0;  // without transfer and a start within
  double transfer_s = 0;
  double train_s = 0;
  double evaluate_s = 0;  // with the evaluator and the watch
  double save_s = 0;

  double sum() const {
    return start_s + load_s + prepare_s + transfer_s + train_s + evaluate_s + save_s;
  }
};

double evaluate_seconds(const Ranges& ranges);  // so far

CaseClocks clocks_of(const Ranges& ranges, double train_s);

}  // namespace mf
