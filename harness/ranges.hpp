// Named ranges: clocks of phases, NVTX ranges of domain "mfbench" where the build has NVTX, and a
// text sink, so that annotation can be tested without a profiler.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "base/json.hpp"

namespace mf {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A stack of ranges. Time of each name is summed; a nested range counts for both.
class Ranges : public PhaseSink {
 public:
  struct Total {
    double seconds = 0;
    std::int64_t count = 0;
  };
  using Observer = std::function<void(const std::string& name, bool begins)>;

  void begin(const char* name) override;
  void end() override;

  double seconds(const std::string& name) const;
  Json to_json() const;  // {"name": {"seconds_s": ..., "count": ...}}
  void set_observer(Observer observer) { observer_ = std::move(observer); }

 private:
  struct Open {
    std::string name;
    Clock::time_point start;
  };
  std::vector<Open> open_;
  std::map<std::string, Total> totals_;
  Observer observer_;
};

}  // namespace mf
