#include "harness/device/nvml.hpp"

#include <dlfcn.h>

#include <array>

namespace mf {
namespace {

// The part of NVML's stable C interface that is used, declared here: its header is not needed.
using Device = void*;
constexpr int kSuccess = 0;
constexpr int kSmClock = 1;  // NVML_CLOCK_SM

using InitFunction = int (*)();
using ShutdownFunction = int (*)();
using DriverVersionFunction = int (*)(char*, unsigned);
using FindFunction = int (*)(const char*, Device*);
using PowerLimitFunction = int (*)(Device, unsigned*);  // milliwatts
using ClockFunction = int (*)(Device, int, unsigned*);  // megahertz

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
        power_limit_(library_.find<PowerLimitFunction>("nvmlDeviceGetEnforcedPowerLimit")),
        clock_(library_.find<ClockFunction>("nvmlDeviceGetClockInfo")) {}

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

  std::optional<double> power_limit_w() override {
    unsigned milliwatts = 0;
    if (power_limit_ == nullptr || power_limit_(device_, &milliwatts) != kSuccess) {
      return std::nullopt;
    }
    return static_cast<double>(milliwatts) * 1e-3;
  }

  std::optional<std::int64_t> sm_clock_hz() override {
    unsigned megahertz = 0;
    if (clock_ == nullptr || clock_(device_, kSmClock, &megahertz) != kSuccess) {
      return std::nullopt;
    }
    return std::int64_t{megahertz} * 1'000'000;
  }

 private:
  Library library_;
  ShutdownFunction shutdown_;
  DriverVersionFunction driver_version_;
  PowerLimitFunction power_limit_;
  ClockFunction clock_;
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
