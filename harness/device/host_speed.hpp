// Measures the speed of the host: virtual machines of one kind may differ in it, and the CPU's name
// does not tell.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json/json_fwd.hpp"

namespace mf {

struct LoadLatency {
  std::int64_t bytes = 0;  // of memory, over which the loads are scattered
  double seconds = 0;      // from a load to the next, whose address it has loaded
};

struct HostSpeed {
  double clock_hz = 0;                 // of one core while the others rest
  std::vector<LoadLatency> latencies;  // of one core; without sizes that do not fit into memory
  double copy_bytes_s = 0;             // read and written by all threads together; 0: not measured
};

// Takes up to 256 MiB. Each number is the best of a few.
HostSpeed measure_host_speed();

Json to_json(const HostSpeed& speed);

}  // namespace mf
