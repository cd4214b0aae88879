// The machine and the build that made a result.
#pragma once

#include <cstdint>
#include <string>

#include "base/json/json_fwd.hpp"

namespace mf {

Json environment_json(const std::string& command_line);  // the `environment` of a result header

// Measures how fast the host is, once a process: `host_speed` of the environments after it, which
// is null without it.
void note_host_speed();

// The peak since the last reset; a reset needs a kernel that offers it (Linux 4.0 and up).
void reset_peak_memory();
std::int64_t peak_memory_bytes();

std::string utc_now();  // 2026-01-31T12:00:00Z
std::string utc_text(std::int64_t seconds_since_1970);

}  // namespace mf
