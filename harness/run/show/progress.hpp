// The display while a spec runs: a line a case, which on a terminal fits its width, with a line of
// the run below; JSON lines for scripts.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "harness/experiment/spec.hpp"
#include "harness/results/files/case_result.hpp"
#include "harness/run/run_options.hpp"

namespace mf {

// By itself it says nothing.
class Progress {
 public:
  virtual ~Progress() = default;
  // Before the first case: the cases without a result.
  virtual void begin_run(const std::vector<const Case*>&, const RanBefore&) {}
  virtual void begin_case(const Case&, std::size_t /*index*/, std::size_t /*count*/) {}
  // For its result, known before it trains.
  virtual void warning(const std::string&) {}
  virtual void trace(const TracePoint&) {}
  // Epochs have ended that are not evaluated: numbers of the point, but none of quality.
  virtual void epochs_done(const TracePoint&) {}
  // Its result is written, to this file.
  virtual void end_case(const CaseResult&, const std::string& /*path*/) {}
};

enum class ProgressMode {
  automatic,  // for a terminal, or, if `out` is something else, for a log
  json,
  quiet
};

std::unique_ptr<Progress> make_progress(ProgressMode mode, std::FILE* out);

}  // namespace mf
