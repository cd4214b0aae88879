// `mfbench list` and `mfbench describe`.
#pragma once

#include <string>

namespace mf {

void list_command(bool json);

// One algorithm, or all of a library.
void describe_command(const std::string& name, bool json);

}  // namespace mf
