#include "harness/device/host_name.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/hash.hpp"
#include "base/host/process_id.hpp"
#include "base/host/system_files.hpp"

namespace mf {
namespace {

constexpr std::size_t kDigits = 12;

std::string machine_id() {
  const std::string id = system_text("/etc/machine-id");
  return id.empty() ? boot_id() : id;
}

// The lines of the driver's files that name a board, in an order of their own.
std::string gpu_ids() {
  std::vector<std::string> ids;
  std::error_code none;
  for (const auto& gpu : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", none)) {
    for_system_lines((gpu.path() / "information").string(), [&](std::string_view line) {
      if (line.starts_with("GPU UUID")) ids.emplace_back(line);
    });
  }
  std::sort(ids.begin(), ids.end());
  std::string all;
  for (const auto& id : ids) all += id;
  return all;
}

// The words of the prefix keep the hash apart from others' hashes of the same id.
std::string named(const std::string& kind, const std::string& secret) {
  return kind + "-" + sha256("mfbench " + kind + "\n" + secret).substr(0, kDigits);
}

}  // namespace

std::string host_name() { return named("host", machine_id() + "\n" + gpu_ids()); }

std::string process_name() {
  const ProcessId own = own_process();
  return named("process", host_name() + own.boot + std::to_string(own.pid) + " " + own.begin);
}

}  // namespace mf
