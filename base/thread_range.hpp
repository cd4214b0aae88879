// A named range of the calling thread, for its listeners: a profiler (NVTX) and the timeline.
#pragma once

#include "base/nvtx.hpp"
#include "base/timeline.hpp"

namespace mf {

inline void begin_thread_range(const char* name) {
  push_nvtx(name);
  if (Timeline* timeline = Timeline::current()) timeline->begin(name);
}

inline void end_thread_range() {
  if (Timeline* timeline = Timeline::current()) timeline->end();
  pop_nvtx();
}

class ThreadRange {
 public:
  explicit ThreadRange(const char* name) { begin_thread_range(name); }
  ~ThreadRange() { end_thread_range(); }
  ThreadRange(const ThreadRange&) = delete;
  ThreadRange& operator=(const ThreadRange&) = delete;
};

}  // namespace mf
