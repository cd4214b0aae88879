#include "base/memory_limit.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <vector>

namespace mf {
namespace {

namespace fs = std::filesystem;

// Version 1 writes "no limit" as the largest number of pages.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

void for_lines(const std::string& path, const std::function<void(const std::string&)>& action) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) action(line);
}

// "max" and what is no number are no limit.
std::optional<std::int64_t> limit_in(const std::string& path) {
  std::optional<std::int64_t> found;
  for_lines(path, [&](const std::string& line) {
    if (!found) found = number_in(line);
  });
  return found && *found < kNoLimit ? found : std::nullopt;
}

// Of a line "key value" or "key: value kB"; 0 where there is none.
std::int64_t value_of(const std::string& path, const std::string& key) {
  std::int64_t value = 0;
  for_lines(path, [&](const std::string& line) {
    const auto words = words_of(line);
    if (words.size() < 2 || (words[0] != key && words[0] != key + ":")) return;
    value = number_in(words[1]).value_or(0) * (words.back() == "kB" ? 1024 : 1);
  });
  return value;
}

class Least {
 public:
  void total(std::int64_t bytes, const std::string& by) { take(limit_.total, bytes, by); }
  void available(std::int64_t bytes, const std::string& by) {
    take(limit_.available, std::max<std::int64_t>(bytes, 0), by);
  }
  const MemoryLimit& limit() const { return limit_; }

 private:
  static void take(MemoryBound& bound, std::int64_t bytes, const std::string& by) {
    if (bound.by.empty() || bytes < bound.bytes) bound = {bytes, by};
  }
  MemoryLimit limit_;
};

// ---- the machine ----

void add_machine(const std::string& root, Least& least) {
  const std::string file = root + "/proc/meminfo";
  if (const auto all = value_of(file, "MemTotal"); all > 0) {
    least.total(all, "MemTotal");
    const auto free = value_of(file, "MemAvailable");  // Linux before 3.14 does not have it
    if (free > 0) least.available(free, "MemAvailable");
  }
}

// ---- limits of the process ----

// "Max address space         unlimited            unlimited            bytes"
std::optional<std::int64_t> soft_limit(const std::string& root, const std::string& name) {
  std::optional<std::int64_t> found;
  for_lines(root + "/proc/self/limits", [&](const std::string& line) {
    if (!line.starts_with(name)) return;
    const auto words = words_of(line.substr(name.size()));
    if (!words.empty()) found = number_in(words[0]);
  });
  return found;
}

void add_process(const std::string& root, Least& least) {
  const struct {
    const char *limit, *used, *by;
  } all[] = {{"Max address space", "VmSize", "ulimit -v"},
             {"Max data size", "VmData", "ulimit -d"}};
  for (const auto& one : all) {
    const auto limit = soft_limit(root, one.limit);
    if (!limit) continue;
    least.total(*limit, one.by);
    least.available(*limit - value_of(root + "/proc/self/status", one.used), one.by);
  }
}

// ---- control groups ----

struct Hierarchy {
  int version = 2;
  std::string mount;  // where it can be read
  std::string group;  // of this process, below the mount; "" or "/a/b"
};

// Names of files, and of what a group counts that is given up when memory is short: the cache of
// files, without what is still to be written.
struct GroupFiles {
  const char *limit, *used;
  std::vector<const char*> dropped, kept;
};

const GroupFiles& files_of(int version) {
  static const GroupFiles first = {"memory.limit_in_bytes",
                                   "memory.usage_in_bytes",
                                   {"total_inactive_file", "total_active_file"},
                                   {"total_dirty", "total_writeback"}};
  static const GroupFiles second = {"memory.max",
                                    "memory.current",
                                    {"inactive_file", "active_file", "slab_reclaimable"},
                                    {"file_dirty", "file_writeback"}};
  return version == 1 ? first : second;
}

std::int64_t sum_of(const std::string& path, const std::vector<const char*>& keys) {
  std::int64_t sum = 0;
  for (const char* key : keys) sum += value_of(path, key);
  return sum;
}

// "\040" of mountinfo is a blank.
std::string unescaped(const std::string& text) {
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

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

// The path of the process's group as /proc/self/cgroup has it; nothing where it is in none.
std::optional<std::string> group_path(const std::string& root, int version) {
  std::optional<std::string> path;
  for_lines(root + "/proc/self/cgroup", [&](const std::string& line) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) return;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version == 1 ? has_word(controllers, "memory") : line.starts_with("0::")) {
      path = line.substr(second + 1);
    }
  });
  return path;
}

// A container sees a part of the tree: paths begin at the root of the mount, or at a place that it
// cannot see, and then its own group is that of the mount.
std::string below(const std::string& path, const std::string& mount_root) {
  if (path.find("..") != std::string::npos) return "";
  if (mount_root == "/") return path == "/" ? "" : path;
  if (!path.starts_with(mount_root)) return "";
  const std::string rest = path.substr(mount_root.size());
  return rest.starts_with("/") ? rest : "";
}

std::vector<Hierarchy> hierarchies(const std::string& root) {
  std::vector<Hierarchy> found;
  for_lines(root + "/proc/self/mountinfo", [&](const std::string& line) {
    const auto words = words_of(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4) return;
    const std::string& type = dash[1];
    const int version = type == "cgroup2" ? 2 : 1;
    if (version == 1 && (type != "cgroup" || !has_word(dash[3], "memory"))) return;
    if (const auto path = group_path(root, version)) {
      found.push_back({version, unescaped(words[4]), below(*path, unescaped(words[3]))});
    }
  });
  return found;
}

void add_group(const std::string& root, const std::string& folder, int version, Least& least) {
  const GroupFiles& names = files_of(version);
  const auto limit = limit_in(root + folder + "/" + names.limit);
  if (!limit) return;
  const std::string by = folder + "/" + names.limit;
  least.total(*limit, by);
  const std::string counts = root + folder + "/memory.stat";
  const std::int64_t used = limit_in(root + folder + "/" + names.used).value_or(0);
  const std::int64_t cache = sum_of(counts, names.dropped) - sum_of(counts, names.kept);
  least.available(*limit - std::clamp<std::int64_t>(used - cache, 0, used), by);
}

// A group may have less than those around it, or more: each level counts.
void add_groups(const std::string& root, Least& least) {
  for (const auto& one : hierarchies(root)) {
    for (fs::path group = one.group; !group.empty() && group != "/"; group = group.parent_path()) {
      add_group(root, one.mount + group.string(), one.version, least);
    }
    add_group(root, one.mount, one.version, least);
  }
}

}  // namespace

MemoryLimit memory_limit(const std::string& root) {
  Least least;
  add_machine(root, least);
  add_groups(root, least);
  add_process(root, least);
  return least.limit();
}

}  // namespace mf
