// Other load on a device while a case trained, by the driver's NVML.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mf {

// Another process with a context on the device.
struct DeviceProcess {
  std::int64_t pid = 0;
  std::optional<double> memory_bytes;
  std::optional<double> sm_share;  // of the time since the case began, as a mean of samples
};

// Why the clock is not at its maximum: NVML's bits, by its names.
struct Slowdown {
  std::string_view name;
  std::uint64_t bit;
  bool disturbs;  // not from our load or a setting of ours
};
inline constexpr std::array<Slowdown, 9> kSlowdowns = {{{"gpu_idle", 0x1, false},
                                                        {"applications_clocks_setting", 0x2, false},
                                                        {"sw_power_cap", 0x4, false},
                                                        {"hw_slowdown", 0x8, true},
                                                        {"sync_boost", 0x10, true},
                                                        {"sw_thermal_slowdown", 0x20, true},
                                                        {"hw_thermal_slowdown", 0x40, true},
                                                        {"hw_power_brake_slowdown", 0x80, true},
                                                        {"display_clock_setting", 0x100, false}}};

struct DeviceLoad {
  std::optional<std::vector<DeviceProcess>> others;      // nothing: the driver does not say
  std::int64_t readings = 0;                             // within epochs, of the slowdowns
  std::array<std::int64_t, kSlowdowns.size()> slowed{};  // of them, with each reason
};

// Adds the reasons that a reading has.
inline void count_slowdowns(DeviceLoad& load, std::uint64_t bits) {
  ++load.readings;
  for (std::size_t k = 0; k < kSlowdowns.size(); ++k) {
    load.slowed[k] += (bits & kSlowdowns[k].bit) != 0 ? 1 : 0;
  }
}

}  // namespace mf
