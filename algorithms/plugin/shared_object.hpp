// One plugin: a shared object with the registrars of a family in the tree.
#pragma once

#include <optional>
#include <string>

namespace mf {

// Loads it for the life of the program and registers its algorithms, which name the file and its
// SHA-256 as their origin. Returns why it cannot be: it is made for another mfbench, lacks
// something, or names an existing algorithm; then nothing is registered.
std::optional<std::string> load_plugin(const std::string& path);

}  // namespace mf
