// The data folder of an installed mfbench: specs, the schema, adapters of other libraries.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mf {

// share/mfbench beside the folder that this program lies in, wherever both were put; empty if the
// program is not installed.
std::optional<std::string> shared_folder();

// The folders in an environment variable, separated by colons.
std::vector<std::string> named_folders(const char* variable);

// The path of a file of the source, such as datasets/fetch/fetch.py: in the tree that this program
// was built in, or in share/mfbench; empty if it is in neither.
std::optional<std::string> beside_program(const std::string& file);

}  // namespace mf
