// Where an installed mfbench has its data: specs, the schema, adapters of other libraries.
#pragma once

#include <optional>
#include <string>

namespace mf {

// share/mfbench beside the folder that this program lies in, wherever both were put; nothing where
// the program is not an installed one.
std::optional<std::string> shared_folder();

}  // namespace mf
