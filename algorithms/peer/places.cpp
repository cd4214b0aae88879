#include "algorithms/peer/places.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/files/open_file.hpp"
#include "base/files/shared_folder.hpp"
#include "base/text.hpp"

namespace mf::peer {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "mfbench-peer-";
constexpr const char* kLock = "/lock";
constexpr const char* kSupervisor = "common/supervisor.py";
constexpr const char* kAdapter = "adapter.py";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Relative folders are those of whoever called mfbench.
std::string absolute(const std::string& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).string();
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Held by the program that the folder belongs to, as long as it runs.
FileHandle try_lock(const std::string& folder, int flags) {
  FileHandle lock(open((folder + kLock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
  if (lock && flock(lock.fd(), LOCK_EX | LOCK_NB) != 0) return FileHandle();
  return lock;
}

bool is_ours(const fs::path& folder) {
  struct stat info {};
  return lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

void remove_left_over(const std::string& parent) {
  std::error_code error;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    const bool named = at->path().filename().string().starts_with(kPrefix);
    if (!named || !is_ours(at->path())) continue;
    std::error_code ignored;
    if (try_lock(at->path().string(), 0)) fs::remove_all(at->path(), ignored);
  }
}

// Where folders are made: in memory; on disk if that has no room.
constexpr const char* kMemory = "/dev/shm";

std::string disk_folder() {
  const std::string temporary = environment("TMPDIR");
  return temporary.empty() ? "/tmp" : absolute(temporary);
}

bool has_room(const std::string& folder, double bytes) {
  struct statvfs info {};
  if (access(folder.c_str(), W_OK) != 0 || statvfs(folder.c_str(), &info) != 0) return false;
  return bytes < 0.5 * static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize);
}

}  // namespace

std::optional<std::string> peers_folder() {
  if (const auto own = environment("MFBENCH_PEER_SCRIPTS"); !own.empty()) return absolute(own);
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
  if (const auto own = environment("MFBENCH_PEERS"); !own.empty()) return absolute(own);
  const auto peers = peers_folder();
  return peers ? (fs::path(*peers).parent_path() / "build" / "peers").string() : "";
}

namespace {

std::string named_python() {
  const std::string named = environment("PYTHON");
  return named.empty() ? "python3" : named;
}

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

}  // namespace

std::string python_of(const std::string& environment) {
  if (environment == kCallersPython) return callers_python();
  const std::string folder = environments_folder();
  if (folder.empty()) return "";
  const fs::path python = fs::path(folder) / environment / "bin" / "python3";
  return access(python.c_str(), X_OK) == 0 ? python.string() : "";
}

namespace {

// pip names what came from a file by its place, "x @ file:///home/me/x-1.whl#sha256=...", which is
// nothing for a result: the file's name stays.
std::string without_folder(const std::string& package) {
  const auto from = package.find(" @ file:");
  const auto last = package.rfind('/', package.find('#'));
  if (from == std::string::npos || last == std::string::npos || last < from) return package;
  return package.substr(0, from) + " @ " + package.substr(last + 1);
}

}  // namespace

std::vector<std::string> installed_packages(const std::string& environment) {
  constexpr std::int64_t kMost = 1 << 20;
  const fs::path file = fs::path(environments_folder()) / environment / "installed.txt";
  std::vector<std::string> lines;
  try {
    std::istringstream in(read_text(file.string(), Origin::found, kMost));
    for (std::string line; std::getline(in, line);) lines.push_back(without_folder(line));
  } catch (const Error&) {  // not known
  }
  return lines;
}

std::optional<std::string> why_no_adapter(const std::string& folder,
                                          const std::string& environment) {
  if (!is_there(supervisor_script())) {
    return "the adapters of other libraries are not beside this program; MFBENCH_PEER_SCRIPTS "
           "names their folder, peers of the source";
  }
  if (!is_there(fs::path(folder) / kAdapter)) {
    return fmt::format("there is no {} in the folder {}", kAdapter, without_places(folder + "/"));
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

std::string without_places(std::string text) {
  std::vector<std::pair<std::string, std::string>> places = {
      {environments_folder(), "$MFBENCH_PEERS"},
      {peers_folder().value_or(""), "$MFBENCH_PEER_SCRIPTS"}};
  for (const auto& more : named_folders("MFBENCH_PEERS_PATH")) {
    places.emplace_back(absolute(more), "$MFBENCH_PEERS_PATH");
  }
  for (const auto& [folder, name] : places) {
    if (folder.empty()) continue;
    for (std::size_t at = 0; (at = text.find(folder + "/", at)) != std::string::npos;) {
      text.replace(at, folder.size(), name);
      at += name.size();
    }
  }
  return text;
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

void remove_left_over_folders() {
  for (const auto& parent : {std::string(kMemory), disk_folder()}) remove_left_over(parent);
}

Scratch::Scratch(double bytes) {
  remove_left_over_folders();
  in_memory_ = has_room(kMemory, bytes);
  const std::string parent = (in_memory_ ? kMemory : disk_folder()) + "/";
  // It gets its name when it is locked, so it is not taken for one that was left over.
  std::string made = parent + "mfbench-new-XXXXXX";
  if (mkdtemp(made.data()) == nullptr) {
    fail(ErrorKind::io, "{}: no folder for a peer can be made: {}", made, last_cause());
  }
  lock_ = try_lock(made, O_CREAT);
  path_ = parent + kPrefix + made.substr(made.size() - 6);
  move_file(made, path_);
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace mf::peer
