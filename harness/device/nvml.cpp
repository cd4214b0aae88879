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
constexpr int kNotFound = 6;        // NVML_ERROR_NOT_FOUND
constexpr int kTooSmall = 7;        // NVML_ERROR_INSUFFICIENT_SIZE
constexpr int kSmClock = 1;         // NVML_CLOCK_SM
constexpr int kGpuTemperature = 0;  // NVML_TEMPERATURE_GPU

using InitFunction = int (*)();
using ShutdownFunction = int (*)();
using DriverVersionFunction = int (*)(char*, unsigned);
using FindFunction = int (*)(const char*, Device*);
using PowerFunction = int (*)(Device, unsigned*);             // milliwatts
using ClockFunction = int (*)(Device, int, unsigned*);        // megahertz
using TemperatureFunction = int (*)(Device, int, unsigned*);  // degrees Celsius
using EnergyFunction = int (*)(Device, unsigned long long*);  // millijoules
using ReasonsFunction = int (*)(Device, unsigned long long*);

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
using ProcessesFunction = int (*)(Device, unsigned*, ProcessInfo*);
using UseFunction = int (*)(Device, ProcessSample*, unsigned*, unsigned long long);

class Library {
 public:
  explicit Library(const std::string& name) : handle_(::dlopen(name.c_str(), RTLD_NOW)) {}
  ~Library() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  template <class Function>
  Function find(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(handle_, name));
  }

 private:
  void* handle_;
};

class LoadedNvml : public Nvml {
 public:
  explicit LoadedNvml(const std::string& library)
      : library_(library),
        shutdown_(library_.find<ShutdownFunction>("nvmlShutdown")),
        driver_version_(library_.find<DriverVersionFunction>("nvmlSystemGetDriverVersion")),
        power_limit_(library_.find<PowerFunction>("nvmlDeviceGetEnforcedPowerLimit")),
        power_(library_.find<PowerFunction>("nvmlDeviceGetPowerUsage")),
        clock_(library_.find<ClockFunction>("nvmlDeviceGetClockInfo")),
        temperature_(library_.find<TemperatureFunction>("nvmlDeviceGetTemperature")),
        energy_(library_.find<EnergyFunction>("nvmlDeviceGetTotalEnergyConsumption")),
        use_(library_.find<UseFunction>("nvmlDeviceGetProcessUtilization")),
        processes_(library_.find<ProcessesFunction>("nvmlDeviceGetComputeRunningProcesses_v3")),
        reasons_(library_.find<ReasonsFunction>("nvmlDeviceGetCurrentClocksEventReasons")) {}

  ~LoadedNvml() override {
    if (started_ && shutdown_ != nullptr) shutdown_();
  }

  bool open(const std::string& pci_bus_id) {
    const auto init = library_.find<InitFunction>("nvmlInit_v2");
    const auto find = library_.find<FindFunction>("nvmlDeviceGetHandleByPciBusId_v2");
    if (init == nullptr || find == nullptr) return false;
    started_ = init() == kSuccess;
    return started_ && find(pci_bus_id.c_str(), &device_) == kSuccess;
  }

  std::optional<std::string> driver_version() override {
    std::array<char, 96> text{};
    if (driver_version_ == nullptr ||
        driver_version_(text.data(), static_cast<unsigned>(text.size())) != kSuccess) {
      return std::nullopt;
    }
    return std::string(text.data());
  }

  std::optional<double> power_limit_w() override { return asked<unsigned>(1e-3, power_limit_); }
  std::optional<double> power_w() override { return asked<unsigned>(1e-3, power_); }
  std::optional<double> sm_clock_hz() override { return asked<unsigned>(1e6, clock_, kSmClock); }
  std::optional<double> temperature_c() override {
    return asked<unsigned>(1, temperature_, kGpuTemperature);
  }
  std::optional<double> energy_j() override { return asked<unsigned long long>(1e-3, energy_); }

  std::optional<std::uint64_t> slowdowns() override {
    unsigned long long bits = 0;
    if (reasons_ == nullptr || reasons_(device_, &bits) != kSuccess) return std::nullopt;
    return bits;
  }

  std::optional<std::vector<DeviceProcess>> processes(std::uint64_t since_us) override {
    if (processes_ == nullptr) return std::nullopt;
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
    std::vector<ProcessInfo> infos(64);
    auto count = static_cast<unsigned>(infos.size());
    int code = processes_(device_, &count, infos.data());
    if (code == kTooSmall) {
      infos.resize(count + 16);  // more may come
      count = static_cast<unsigned>(infos.size());
      code = processes_(device_, &count, infos.data());
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
    if (use_ == nullptr) return std::nullopt;
    unsigned count = 0;
    const int code = use_(device_, nullptr, &count, since_us);
    if (code == kNotFound) return std::map<std::int64_t, double>();
    if (code != kTooSmall && code != kSuccess) return std::nullopt;
    std::vector<ProcessSample> samples(count);
    if (count > 0 && use_(device_, samples.data(), &count, since_us) != kSuccess) {
      return std::nullopt;
    }
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

  // The result of `function` for the device, times `unit`; empty if the library lacks the function,
  // or the function an answer.
  template <class Number, class Function, class... Which>
  std::optional<double> asked(double unit, Function function, Which... which) const {
    Number number = 0;
    if (function == nullptr || function(device_, which..., &number) != kSuccess) {
      return std::nullopt;
    }
    return static_cast<double>(number) * unit;
  }

  Library library_;
  ShutdownFunction shutdown_;
  DriverVersionFunction driver_version_;
  PowerFunction power_limit_;
  PowerFunction power_;
  ClockFunction clock_;
  TemperatureFunction temperature_;
  EnergyFunction energy_;
  UseFunction use_;
  ProcessesFunction processes_;  // of version 3, which drivers of CUDA 12 have
  ReasonsFunction reasons_;
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
