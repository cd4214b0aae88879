// The gain from more ranks or devices: the times of a configuration on several beside those on one.
#pragma once

#include <cstddef>
#include <string>

#include "harness/experiment/spec.hpp"

namespace mf {

// For training, and for a user's wait, which more of them may hardly shorten. Empty if no
// configuration of the spec has run on one and on several.
std::string scaling_table(const std::string& folder, const Spec& spec, std::size_t room);

}  // namespace mf
