#include "base/host/control_groups.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>

#include "base/host/system_files.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

struct Hierarchy {
  int version = 2;
  std::string mount;  // where it is mounted
  std::string group;  // of this process, below the mount; "" or "/a/b"
};

// "\040" of mountinfo is a blank.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 4], code, 8).ptr == &text[i + 4]) {
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool has_word(std::string_view list, const std::string& word) {
  return ("," + std::string(list) + ",").find("," + word + ",") != std::string::npos;
}

// The path of the process's group from /proc/self/cgroup, with lines "0::/a/b" of version 2 and
// "4:cpu,cpuacct:/a/b" of version 1; empty if it is in none.
std::optional<std::string> group_path(const std::string& root, int version,
                                      const std::string& controller) {
  std::optional<std::string> path;
  for_system_lines(root + "/proc/self/cgroup", [&](std::string_view line) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) return;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (version == 1 ? has_word(controllers, controller) : line.starts_with("0::")) {
      path = line.substr(second + 1);
    }
  });
  return path;
}

// A container sees a part of the tree: paths begin at the root of the mount, or at a place that it
// cannot see, and then its group is the root of the mount.
std::string below(const std::string& path, const std::string& mount_root) {
  if (path.find("..") != std::string::npos) return "";
  if (mount_root == "/") return path == "/" ? "" : path;
  if (!path.starts_with(mount_root)) return "";
  const std::string rest = path.substr(mount_root.size());
  return rest.starts_with("/") ? rest : "";
}

std::vector<Hierarchy> hierarchies(const std::string& root, const std::string& controller) {
  std::vector<Hierarchy> found;
  for_system_lines(root + "/proc/self/mountinfo", [&](std::string_view line) {
    const auto words = words_in(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4) return;
    const std::string_view type = dash[1];
    const int version = type == "cgroup2" ? 2 : 1;
    if (version == 1 && (type != "cgroup" || !has_word(dash[3], controller))) return;
    if (const auto path = group_path(root, version, controller)) {
      found.push_back({version, unescaped(words[4]), below(*path, unescaped(words[3]))});
    }
  });
  return found;
}

// Version 2 writes "<quota> <period>" in microseconds, or "max <period>"; version 1 a file each,
// with a quota of -1.
std::optional<double> cpus_of(const std::string& folder, int version) {
  std::optional<double> quota, period;
  if (version == 1) {
    quota = number_in<double>(system_text(folder + "/cpu.cfs_quota_us"));
    period = number_in<double>(system_text(folder + "/cpu.cfs_period_us"));
  } else if (const std::string text = system_text(folder + "/cpu.max"); !text.empty()) {
    const auto words = words_in(text);
    if (words.size() < 2) return std::nullopt;
    quota = number_in<double>(words[0]);
    period = number_in<double>(words[1]);
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

std::vector<ControlGroup> find_groups(const std::string& controller, const std::string& root) {
  std::vector<ControlGroup> groups;
  for (const auto& one : hierarchies(root, controller)) {
    for (fs::path group = one.group; !group.empty() && group != "/"; group = group.parent_path()) {
      groups.push_back({one.version, one.mount + group.string()});
    }
    groups.push_back({one.version, one.mount});
  }
  return groups;
}

}  // namespace

std::vector<ControlGroup> control_groups(const std::string& controller, const std::string& root) {
  if (!root.empty()) return find_groups(controller, root);
  static std::mutex mutex;
  static std::map<std::string, std::vector<ControlGroup>> found;
  const std::lock_guard lock(mutex);
  const auto [known, is_new] = found.try_emplace(controller);
  if (is_new) known->second = find_groups(controller, root);
  return known->second;
}

// A group may have less than those around it, or more: each level counts.
std::optional<int> cpus_of_groups(const std::string& root) {
  std::optional<int> least;
  for (const auto& group : control_groups("cpu", root)) {
    const auto cpus = cpus_of(root + group.folder, group.version);
    if (!cpus || *cpus > 1e6) continue;
    const int whole = static_cast<int>(std::ceil(*cpus));
    if (!least || whole < *least) least = whole;
  }
  return least;
}

}  // namespace mf
