// What the user sees while a spec runs: a live line a case on a terminal, plain lines in a log,
// JSON lines for scripts.
#pragma once

#include <cstdio>
#include <memory>

#include "harness/results/files/case_result.hpp"
#include "harness/spec/spec.hpp"

namespace mf {

// By itself it says nothing.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void begin_case(const Case&, std::size_t /*index*/, std::size_t /*count*/) {}
  virtual void trace(const TracePoint&) {}
  // Epochs have ended that are not evaluated: numbers of the point but for those of quality.
  virtual void epochs_done(const TracePoint&) {}
  virtual void end_case(const CaseResult&) {}
};

enum class ProgressMode {
  automatic,  // for a terminal, or for a log: where `out` is none, or TERM says "dumb"
  json,
  quiet
};

std::unique_ptr<Progress> make_progress(ProgressMode mode, std::FILE* out);

}  // namespace mf
