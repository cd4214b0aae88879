// The contract is of C++: classes with virtual functions, whose layout depends on the headers and
// the compiler. So a plugin fits the program of exactly these headers. Both have a symbol whose
// name is a hash of them (cmake/plugin): the plugin asks for it, and the loader finds it missing
// before any code of the plugin runs.
#include "algorithms/plugin/shared_object.hpp"

#include <dlfcn.h>
#include <fmt/core.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "base/files/mapped_file.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "mf_generated/plugin_abi.hpp"

extern "C" {
extern const char MF_PLUGIN_ABI;
const char MF_PLUGIN_ABI = 0;
}

namespace mf {
namespace {

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
  const std::string name = std::filesystem::path(path).filename().string();
  return fmt::format("{}, SHA-256 {}", name, sha256(map_file(path).view));
}

}  // namespace

std::optional<std::string> load_plugin(const std::string& path) {
  // The loader would wait for a pipe.
  if (!std::filesystem::is_regular_file(path)) return "found no file, expected a shared object";
  // Its registrars run within dlopen, which no exception may pass.
  Registrations registrations;
  void* object = nullptr;
  {
    const CollectRegistrations collecting(registrations);
    object = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (object == nullptr) return refusal(std::filesystem::absolute(path).string(), dlerror());
  if (dlsym(object, kMark) == nullptr) {
    return "it does not say for which mfbench it is built; expected a target of mfbench_plugin()";
  }
  if (registrations.infos.empty()) return "it registers no algorithm";
  return adopt(std::move(registrations), origin_of(path));
}

}  // namespace mf
