#include "harness/device/nvml.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <map>

namespace mf {
namespace {

// The part of NVML's stable C interface that is used, declared here: its header is not needed.
using Device = void*;
constexpr int kSuccess = 0;
constexpr int kMissing = -1;        // not of NVML
constexpr int kNotFound = 6;        // NVML_ERROR_NOT_FOUND
constexpr int kTooSmall = 7;        // NVML_ERROR_INSUFFICIENT_SIZE
constexpr int kSmClock = 1;         // NVML_CLOCK_SM
constexpr int kGpuTemperature = 0;  // NVML_TEMPERATURE_GPU

// nvmlProcessInfo_t
struct ProcessInfo {
  unsigned pid;
  unsigned long long memory_bytes;
  unsigned instances[2];  // of MIG
};
// nvmlProcessUtilizationSample_t
struct ProcessSample {
  unsigned pid;
  unsigned long long at_us;
  unsigned sm_percent;
  unsigned other_percents[3];
};
constexpr unsigned long long kNotAvailable = ~0ULL;  // NVML_VALUE_NOT_AVAILABLE

class Library {
 public:
  explicit Library(const std::string& name) : handle_(::dlopen(name.c_str(), RTLD_NOW)) {}
  ~Library() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // The status of the function; kMissing if the library lacks it.
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    if (handle_ == nullptr) return kMissing;
    const auto function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(handle_, name));
    return function == nullptr ? kMissing : function(arguments...);
  }

 private:
  void* handle_;
};

class LoadedNvml : public Nvml {
 public:
  explicit LoadedNvml(const std::string& library) : library_(library) {}

  ~LoadedNvml() override {
    if (started_) library_.call("nvmlShutdown");
  }

  bool open(const std::string& pci_bus_id) {
    started_ = library_.call("nvmlInit_v2") == kSuccess;
    return started_ && library_.call("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(),
                                     &device_) == kSuccess;
  }

  std::optional<std::string> driver_version() override {
    std::array<char, 96> text{};
    const auto size = static_cast<unsigned>(text.size());
    if (library_.call("nvmlSystemGetDriverVersion", text.data(), size) != kSuccess) {
      return std::nullopt;
    }
    return std::string(text.data());
  }

  // NVML has milliwatts, megahertz, degrees Celsius and millijoules.
  std::optional<double> power_limit_w() override {
    return asked<unsigned>(1e-3, "nvmlDeviceGetEnforcedPowerLimit");
  }
  std::optional<double> power_w() override {
    return asked<unsigned>(1e-3, "nvmlDeviceGetPowerUsage");
  }
  std::optional<double> sm_clock_hz() override {
    return asked<unsigned>(1e6, "nvmlDeviceGetClockInfo", kSmClock);
  }
  std::optional<double> temperature_c() override {
    return asked<unsigned>(1, "nvmlDeviceGetTemperature", kGpuTemperature);
  }
  std::optional<double> energy_j() override {
    return asked<unsigned long long>(1e-3, "nvmlDeviceGetTotalEnergyConsumption");
  }

  std::optional<std::uint64_t> slowdowns() override {
    unsigned long long bits = 0;
    if (library_.call("nvmlDeviceGetCurrentClocksEventReasons", device_, &bits) != kSuccess) {
      return std::nullopt;
    }
    return bits;
  }

  std::optional<std::vector<DeviceProcess>> processes(std::uint64_t since_us) override {
    auto found = listed();
    if (!found) return std::nullopt;
    const auto shares = sm_shares(since_us);
    if (!shares) return found;
    for (auto& one : *found) {
      const auto share = shares->find(one.pid);
      one.sm_share = share == shares->end() ? 0 : share->second;  // no sample: it did nothing
    }
    return found;
  }

 private:
  std::optional<std::vector<DeviceProcess>> listed() const {
    std::vector<ProcessInfo> infos;
    unsigned count = 48;
    int code = kTooSmall;
    for (int tries = 0; code == kTooSmall && tries < 2; ++tries) {
      infos.resize(count + 16);  // more may come
      count = static_cast<unsigned>(infos.size());
      // Version 3, which drivers of CUDA 12 have.
      code =
          library_.call("nvmlDeviceGetComputeRunningProcesses_v3", device_, &count, infos.data());
    }
    if (code != kSuccess) return std::nullopt;
    infos.resize(std::min<std::size_t>(count, infos.size()));
    std::vector<DeviceProcess> found;
    for (const ProcessInfo& info : infos) {
      DeviceProcess one{info.pid, std::nullopt, std::nullopt};
      if (info.memory_bytes != kNotAvailable) {
        one.memory_bytes = static_cast<double>(info.memory_bytes);
      }
      found.push_back(one);
    }
    return found;
  }

  // By process, the mean of the samples since then; empty if the driver takes none.
  std::optional<std::map<std::int64_t, double>> sm_shares(std::uint64_t since_us) const {
    const auto use = [&](ProcessSample* samples, unsigned* count) {
      return library_.call("nvmlDeviceGetProcessUtilization", device_, samples, count, since_us);
    };
    unsigned count = 0;
    const int code = use(nullptr, &count);
    if (code == kNotFound) return std::map<std::int64_t, double>();
    if (code != kTooSmall && code != kSuccess) return std::nullopt;
    std::vector<ProcessSample> samples(count);
    if (count > 0 && use(samples.data(), &count) != kSuccess) return std::nullopt;
    samples.resize(std::min<std::size_t>(count, samples.size()));
    std::map<std::int64_t, std::pair<double, int>> sums;
    for (const auto& sample : samples) {
      auto& [sum, terms] = sums[sample.pid];
      sum += 1e-2 * sample.sm_percent;
      ++terms;
    }
    std::map<std::int64_t, double> shares;
    for (const auto& [pid, sum] : sums) shares[pid] = sum.first / sum.second;
    return shares;
  }

  // The number of `function` for the device, times `unit`; empty if the library lacks the function,
  // or the function an answer.
  template <class Number, class... Which>
  std::optional<double> asked(double unit, const char* function, Which... which) const {
    Number number = 0;
    if (library_.call(function, device_, which..., &number) != kSuccess) return std::nullopt;
    return static_cast<double>(number) * unit;
  }

  Library library_;
  Device device_ = nullptr;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Nvml> open_nvml(const std::string& pci_bus_id, const std::string& library) {
  auto nvml = std::make_unique<LoadedNvml>(library);
  if (!nvml->open(pci_bus_id)) return nullptr;
  return nvml;
}

std::optional<std::vector<DeviceProcess>> others_of(
    const std::optional<std::vector<DeviceProcess>>& processes, std::int64_t own_pid) {
  if (!processes || processes->empty()) return std::nullopt;
  std::vector<DeviceProcess> others = *processes;
  auto own = std::find_if(others.begin(), others.end(),
                          [&](const DeviceProcess& one) { return one.pid == own_pid; });
  if (own == others.end()) {
    own = std::max_element(others.begin(), others.end(), [](const auto& a, const auto& b) {
      return a.sm_share.value_or(0) < b.sm_share.value_or(0);
    });
  }
  others.erase(own);
  return others;
}

}  // namespace mf
