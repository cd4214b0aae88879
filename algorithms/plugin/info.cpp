// Algorithms of shared objects in the folders of MFBENCH_PLUGINS, built against the installed
// headers (docs/adding-an-algorithm.md).
//
// The contract is of C++: classes with virtual functions, whose layout depends on the headers and
// the compiler. So a plugin fits the program of exactly these headers. Both have a symbol whose
// name is a hash of them (cmake/plugin): the plugin asks for it, and the loader finds it missing
// before any code of the plugin runs.
#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/files/mapped_file.hpp"
#include "base/files/shared_folder.hpp"
#include "base/hash.hpp"
#include "base/host/process_id.hpp"
#include "base/log.hpp"
#include "mf_generated/plugin_abi.hpp"

extern "C" {
extern const char MF_PLUGIN_ABI;
const char MF_PLUGIN_ABI = 0;
}

namespace mf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "mfbench_abi_";
// For every plugin (cmake/plugin/plugin.cpp).
constexpr const char* kMark = "mfbench_plugin_made_for";

std::string abi_in(std::string_view text) {
  const auto at = text.find(kPrefix);
  if (at == text.npos) return "";
  const auto rest = text.substr(at + kPrefix.size());
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789abcdef")));
}

// The loader begins with the path, which stands before it already.
std::string refusal(const std::string& path, std::string said) {
  if (const std::string found = abi_in(said); !found.empty()) {
    return fmt::format(
        "it is built for another mfbench: found the headers {}, expected {}; build it anew against "
        "the headers of this one",
        found, std::string_view(MF_PLUGIN_ABI_NAME).substr(kPrefix.size()));
  }
  if (said.starts_with(path + ": ")) said.erase(0, path.size() + 2);
  return said;
}

std::string origin_of(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return fmt::format("{}, SHA-256 {}", name, sha256(map_file(path).view));
}

// Loads a plugin for the life of the program and registers its algorithms, which name the file and
// its SHA-256 as their origin. Returns why it cannot be: it is made for another mfbench, lacks
// something, or names an existing algorithm; then nothing is registered.
std::optional<std::string> load_plugin(const std::string& path) {
  // The loader would wait for a pipe.
  if (!fs::is_regular_file(path)) return "found no file, expected a shared object";
  // Static constructors run within dlopen, which no exception may pass. A process that ends with it
  // tries it first: they may throw, crash or never return.
  Registrations registrations;
  void* object = nullptr;
  int status = 0;
  {
    const CollectRegistrations collecting(registrations);
    const pid_t trial = ::fork();
    if (trial == 0) ::alarm(60);
    if (trial > 0) ::waitpid(trial, &status, 0);
    if (status == 0) object = dlopen(fs::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (trial == 0) ::_exit(0);
  }
  if (status != 0) return "found a static constructor that fails: " + how_ended(status);
  if (object == nullptr) return refusal(fs::absolute(path).string(), dlerror());
  if (dlsym(object, kMark) == nullptr) {
    return "it does not say for which mfbench it is built; expected a target of mfbench_plugin()";
  }
  if (registrations.infos.empty()) return "it registers no algorithm";
  return adopt(std::move(registrations), origin_of(path));
}

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
  const bool told = std::getenv("MFBENCH_PLUGINS_TOLD") != nullptr;  // by the run of this case
  for (const auto& folder : named_folders("MFBENCH_PLUGINS")) {
    for (const auto& path : objects_in(folder)) {
      const auto why = load_plugin(path);
      if (why && !told) warn("plugin {} is left out: {}", path, *why);
    }
  }
});

}  // namespace
}  // namespace mf
