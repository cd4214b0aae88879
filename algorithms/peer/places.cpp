#include "algorithms/peer/places.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/error.hpp"
#include "base/files/files.hpp"
#include "base/files/open_file.hpp"
#include "base/files/shared_folder.hpp"
#include "base/text.hpp"

namespace mf::peer {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSupervisor = "common/supervisor.py";
constexpr const char* kAdapter = "adapter.py";

std::string variable(const char* name, const std::string& fallback = "") {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : fallback;
}

// Relative folders are those of whoever called mfbench.
std::string absolute(const std::string& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).string();
}

std::string named_python() { return variable("PYTHON", "python3"); }

// A path, or a name that is looked for as a shell does.
std::string callers_python() {
  std::string named = named_python();
  if (named.find('/') != std::string::npos) named = absolute(named);
  for (const auto& folder : named_folders("PATH")) {
    const std::string found = (fs::path(folder) / named).string();  // an absolute one is itself
    if (access(found.c_str(), X_OK) == 0) return absolute(found);
  }
  return "";
}

// pip names what came from a file by its place, "x @ file:///home/me/x-1.whl#sha256=...", which is
// nothing for a result: the file's name stays.
std::string without_folder(const std::string& package) {
  const auto from = package.find(" @ file:");
  const auto last = package.rfind('/', package.find('#'));
  if (from == std::string::npos || last == std::string::npos || last < from) return package;
  return package.substr(0, from) + " @ " + package.substr(last + 1);
}

}  // namespace

std::optional<std::string> peers_folder() {
  if (const auto own = variable("MFBENCH_PEER_SCRIPTS"); !own.empty()) return absolute(own);
  const auto supervisor = beside_program(std::string("peers/") + kSupervisor);
  if (!supervisor) return std::nullopt;
  return fs::path(*supervisor).parent_path().parent_path().string();
}

std::string supervisor_script() { return peers_folder().value_or("") + "/" + kSupervisor; }

std::vector<std::string> peers_folders() {
  std::vector<std::string> all;
  if (const auto own = peers_folder()) all.push_back(*own);
  for (const auto& more : named_folders("MFBENCH_PEERS_PATH")) all.push_back(absolute(more));
  return all;
}

std::string environments_folder() {
  if (const auto own = variable("MFBENCH_PEERS"); !own.empty()) return absolute(own);
  const auto peers = peers_folder();
  return peers ? (fs::path(*peers).parent_path() / "build" / "peers").string() : "";
}

std::string python_of(const std::string& environment) {
  if (environment == kCallersPython) return callers_python();
  const std::string python = environments_folder() + "/" + environment + "/bin/python3";
  return access(python.c_str(), X_OK) == 0 ? python : "";
}

std::vector<std::string> installed_packages(const std::string& environment) {
  constexpr std::int64_t kMost = 1 << 20;
  const std::string file = environments_folder() + "/" + environment + "/installed.txt";
  std::vector<std::string> lines;
  try {
    std::istringstream in(read_text(file, Origin::found, kMost));
    for (std::string line; std::getline(in, line);) lines.push_back(without_folder(line));
  } catch (const Error&) {  // not known
  }
  return lines;
}

std::optional<std::string> why_no_adapter(const std::string& folder,
                                          const std::string& environment) {
  if (access(supervisor_script().c_str(), F_OK) != 0) {
    return "the adapters of other libraries are not beside this program; MFBENCH_PEER_SCRIPTS "
           "names their folder, peers of the source";
  }
  if (access((folder + "/" + kAdapter).c_str(), F_OK) != 0) {
    return fmt::format("the folder {} has no {}", fs::path(folder).filename().string(), kAdapter);
  }
  if (!python_of(environment).empty()) return std::nullopt;
  if (environment == kCallersPython) {
    return fmt::format("found no program {} to start it with: set PYTHON to a Python",
                       named_python());
  }
  return fmt::format(
      "{0} is not installed: ./dev peers {0} does it (MFBENCH_PEERS may name another folder)",
      environment);
}

std::string find_program(const std::string& named) {
  if (named.empty()) fail(ErrorKind::unsupported, "`program` names no program");
  const auto folders = named_folders("MFBENCH_PROGRAMS");
  std::error_code error;
  for (const auto& folder : folders) {
    const fs::path top = fs::canonical(folder, error);
    if (error) continue;
    const fs::path found = fs::canonical(top / named, error);
    if (error || !fs::is_regular_file(found, error)) continue;
    const auto [end, unused] = std::mismatch(top.begin(), top.end(), found.begin(), found.end());
    if (end == top.end()) return found.string();
  }
  fail(ErrorKind::unsupported,
       "`program`: {} lies in no folder that MFBENCH_PROGRAMS names ({}); a spec by itself "
       "starts no program: set it to the folders whose programs specs may run, separated by colons",
       in_quotes(named), folders.empty() ? "it is not set" : join(folders, ":"));
}

}  // namespace mf::peer
