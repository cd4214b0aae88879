// A folder for targets whose functions need files: of this process, gone at its end.
#pragma once

#include <string>
#include <string_view>

#include "testing/temp_folder.hpp"

namespace mf::fuzz {

const TempFolder& scratch();

// Writes scratch() / name, below folders that are made as needed; returns its path.
std::string write_scratch(const std::string& name, std::string_view bytes);

}  // namespace mf::fuzz
