// Algorithms of shared objects in the folders of MFBENCH_PLUGINS, built against the installed
// headers (docs/adding-an-algorithm.md).
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "algorithms/plugin/shared_object.hpp"
#include "base/error.hpp"
#include "base/files/shared_folder.hpp"
#include "base/log.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> objects_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".so") found.push_back(at->path().string());
  }
  if (error) {
    fail(ErrorKind::usage, "MFBENCH_PLUGINS: {}: no folder of plugins: {}", folder,
         error.message());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// A plugin that does not fit is left out: the built-in algorithms work without it.
const RegisterSource registered([] {
  for (const auto& folder : named_folders("MFBENCH_PLUGINS")) {
    for (const auto& path : objects_in(folder)) {
      if (const auto why = load_plugin(path)) warn("plugin {} is left out: {}", path, *why);
    }
  }
});

}  // namespace
}  // namespace mf
