#include "harness/results/meaning/case_clocks.hpp"

namespace mf {

double evaluate_seconds(const Ranges& ranges) {
  return ranges.clock_seconds(kEvaluateRange) + ranges.clock_seconds(kEvaluatorRange) +
         ranges.clock_seconds(kWatchRange);
}

CaseClocks clocks_of(const Ranges& ranges, double train_s) {
  CaseClocks clocks;
  clocks.start_s = ranges.clock_seconds(kStartRange) + ranges.nested_start_s();
  clocks.load_s = ranges.clock_seconds(kLoadRange);
  clocks.transfer_s = ranges.transfer_s();
  clocks.prepare_s =
      ranges.clock_seconds(kPrepareRange) - clocks.transfer_s - ranges.nested_start_s();
  clocks.train_s = train_s;
  clocks.evaluate_s = evaluate_seconds(ranges);
  clocks.save_s = ranges.clock_seconds(kSaveRange);
  return clocks;
}

}  // namespace mf
