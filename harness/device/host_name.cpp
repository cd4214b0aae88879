#include "harness/device/host_name.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/hash.hpp"

namespace mf {
namespace {

constexpr std::size_t kDigits = 12;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string boot_id() { return text_of("/proc/sys/kernel/random/boot_id"); }

std::string machine_id() {
  const std::string id = text_of("/etc/machine-id");
  return id.empty() ? boot_id() : id;
}

// The lines of the driver's files that name a board, in an order of their own.
std::string gpu_ids() {
  std::vector<std::string> ids;
  std::error_code none;
  for (const auto& gpu : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", none)) {
    std::ifstream in(gpu.path() / "information");
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("GPU UUID")) ids.push_back(line);
    }
  }
  std::sort(ids.begin(), ids.end());
  std::string all;
  for (const auto& id : ids) all += id;
  return all;
}

// The words of the prefix keep the hash apart from those that others make of the same id.
std::string named(const std::string& kind, const std::string& secret) {
  return kind + "-" + sha256("mfbench " + kind + "\n" + secret).substr(0, kDigits);
}

// The 22nd field of its line: clock ticks since the boot. Its second, a name, may have blanks.
std::string begin_of_process() {
  std::string line = text_of("/proc/self/stat");
  line.erase(0, line.rfind(')') + 1);
  std::size_t at = 0;
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = line.find(' ', at + 1);
  return at == std::string::npos ? "" : line.substr(at, line.find(' ', at + 1) - at);
}

}  // namespace

std::string host_name() { return named("host", machine_id() + "\n" + gpu_ids()); }

std::string process_name() {
  return named("process", host_name() + boot_id() + std::to_string(getpid()) + begin_of_process());
}

}  // namespace mf
