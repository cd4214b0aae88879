#include "base/host/memory_limit.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/host/control_groups.hpp"
#include "base/host/system_files.hpp"

namespace mf {
namespace {

// Version 1 writes "no limit" as the largest number of pages.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

std::optional<std::int64_t> bytes_in(std::string_view text) {
  return number_in<std::int64_t>(text);
}

// "max" and text that is not a number mean no limit.
std::optional<std::int64_t> limit_in(const std::string& path) {
  const auto found = bytes_in(system_text(path));
  return found && *found < kNoLimit ? found : std::nullopt;
}

// For a line "key value" or "key: value kB" of a file's text; 0 without one.
std::int64_t value_of(std::string_view text, const std::string& key) {
  for (const auto line : lines_in(text)) {
    if (!line.starts_with(key)) continue;
    const auto words = words_in(line);
    if (words.size() < 2 || (words[0] != key && words[0] != key + ":")) continue;
    return bytes_in(words[1]).value_or(0) * (words.back() == "kB" ? 1024 : 1);
  }
  return 0;
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
  const std::string text = system_text(root + "/proc/meminfo");
  if (const auto all = value_of(text, "MemTotal"); all > 0) {
    least.total(all, "MemTotal");
    const auto free = value_of(text, "MemAvailable");  // Linux before 3.14 does not have it
    if (free > 0) least.available(free, "MemAvailable");
  }
}

// ---- limits of the process ----

// "Max address space         unlimited            unlimited            bytes"
std::optional<std::int64_t> soft_limit(std::string_view text, std::string_view name) {
  for (const auto line : lines_in(text)) {
    if (line.starts_with(name)) return bytes_in(line.substr(name.size()));
  }
  return std::nullopt;
}

void add_process(const std::string& root, Least& least) {
  const struct {
    const char *limit, *used, *by;
  } all[] = {{"Max address space", "VmSize", "ulimit -v"},
             {"Max data size", "VmData", "ulimit -d"}};
  const std::string limits = system_text(root + "/proc/self/limits");
  for (const auto& one : all) {
    const auto limit = soft_limit(limits, one.limit);
    if (!limit) continue;
    least.total(*limit, one.by);
    least.available(*limit - value_of(system_text(root + "/proc/self/status"), one.used), one.by);
  }
}

// ---- control groups ----

// Names of files, and of counts of memory that a group gives up when memory is short: cached file
// pages, dirty ones left out.
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

std::int64_t sum_of(std::string_view text, const std::vector<const char*>& keys) {
  std::int64_t sum = 0;
  for (const char* key : keys) sum += value_of(text, key);
  return sum;
}

void add_group(const std::string& root, const std::string& folder, int version, Least& least) {
  const GroupFiles& names = files_of(version);
  const auto limit = limit_in(root + folder + "/" + names.limit);
  if (!limit) return;
  const std::string by = folder + "/" + names.limit;
  least.total(*limit, by);
  const std::string counts = system_text(root + folder + "/memory.stat");
  const std::int64_t used = limit_in(root + folder + "/" + names.used).value_or(0);
  const std::int64_t cache = sum_of(counts, names.dropped) - sum_of(counts, names.kept);
  least.available(*limit - std::clamp<std::int64_t>(used - cache, 0, used), by);
}

// A group may have less than those around it, or more: each level counts.
void add_groups(const std::string& root, Least& least) {
  for (const auto& group : control_groups("memory", root)) {
    add_group(root, group.folder, group.version, least);
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
