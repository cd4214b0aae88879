#include "harness/device/nvml.hpp"

#include <dlfcn.h>

#include <array>

namespace mf {
namespace {

// The part of NVML's stable C interface that is used, declared here: its header is not needed.
using Device = void*;
constexpr int kSuccess = 0;
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
        energy_(library_.find<EnergyFunction>("nvmlDeviceGetTotalEnergyConsumption")) {}

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

 private:
  // The number that `function` has for the device, times `unit`; nothing where the library lacks
  // the function, or the function an answer.
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
  Device device_ = nullptr;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Nvml> open_nvml(const std::string& pci_bus_id, const std::string& library) {
  auto nvml = std::make_unique<LoadedNvml>(library);
  if (!nvml->open(pci_bus_id)) return nullptr;
  return nvml;
}

}  // namespace mf
