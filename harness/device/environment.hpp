// The machine and the build that made a result.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "base/json/json_fwd.hpp"

namespace mf {

Json environment_json(const std::string& command_line);  // the `environment` of a result header

// Measures how fast the host is, once a process: `host_speed` of the environments after it, which
// is null without it.
void note_host_speed();

// The peak since the last reset; a reset needs a kernel that offers it (Linux 4.0 and up).
void reset_peak_memory();
std::int64_t peak_memory_bytes();

// Names of the host and of this process that tell them apart and say nothing else of them.
// "host-3f9a61c2d07b": a hash of the machine's id (/etc/machine-id, or else the id of its boot) and
// its GPUs. Machines that were copied with their id, and have no GPU, have one name.
std::string host_name();

// "process-5be10a77c4d2": a hash of the host, its boot, and the id and start of the process.
std::string process_name();

// When this process began, by the kernel, which counts ticks (mostly of 10 ms) and rounds down: so
// the time can be a tick too early. It lies before main() at the latest.
Clock::time_point process_start();

std::string utc_now();  // 2026-01-31T12:00:00Z
std::string utc_text(std::int64_t seconds_since_1970);

}  // namespace mf
