// What this machine and this build can do.
#pragma once

#include "base/json_fwd.hpp"

namespace mf {

Json doctor_json();
std::string format_doctor(const Json& report);

}  // namespace mf
