// Named intervals of an algorithm (prepare: "transfer"; epoch: "hermitian", "solve", ...). The
// harness times them, puts them into the result and draws them as NVTX ranges.
#pragma once

namespace mf {

class PhaseSink {
 public:
  virtual ~PhaseSink() = default;
  virtual void begin(const char* phase) = 0;
  virtual void end() = 0;
};

class PhaseScope {
 public:
  PhaseScope(PhaseSink* sink, const char* phase) : sink_(sink) {
    if (sink_ != nullptr) sink_->begin(phase);
  }
  ~PhaseScope() {
    if (sink_ != nullptr) sink_->end();
  }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  PhaseSink* sink_;
};

}  // namespace mf
