// What this machine and this build can do.
#pragma once

#include <string>

#include "base/json/json_fwd.hpp"

namespace mf {

// "mfbench 0.1.0", then lines about the commit and the build.
std::string version_text();

Json doctor_json();
std::string format_doctor(const Json& report);

}  // namespace mf
