// The device during one case: the stream of the algorithm, marks on it (CUDA events) and the time
// between them, the memory, SM clock, power and temperature. Abstract, so that tests can stand in
// for a device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/core/device_stream.hpp"
#include "harness/device/device_load.hpp"

namespace mf {

// The driver's readings of the device at a moment; empty if unknown (no NVML).
struct DeviceReading {
  std::optional<double> sm_clock_hz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  std::optional<std::uint64_t> slowdowns = std::nullopt;  // bits of kSlowdowns
  bool empty() const { return !sm_clock_hz && !power_w && !temperature_c; }
};

// Which questions the driver answers at all.
struct DeviceTells {
  bool readings = false;
  bool energy = false;
};

class DeviceClock {
 public:
  virtual ~DeviceClock() = default;

  virtual int compute() = 0;          // capability: 90 for 9.0
  virtual DeviceStream stream() = 0;  // Context::stream

  // Marks this point of the stream and returns the mark's number. Never throws, because phases end
  // in destructors: the next synchronize() throws the error.
  virtual std::int64_t mark() noexcept = 0;
  // Waits for the stream; errors as for mark().
  virtual void wait() noexcept = 0;
  // Waits for the stream. Throws Error(device) if anything queued on it, or a mark, has failed.
  virtual void synchronize() = 0;
  // Between two marks; after synchronize().
  virtual double seconds(std::int64_t from, std::int64_t to) = 0;
  // All marks go back to the pool; the next is number 0. `expected` of them are made now, off the
  // training clock.
  virtual void clear_marks(std::int64_t expected) = 0;

  // Before a case uploads `bytes`: the process's upload buffers are made now, off the clocks of its
  // answer.
  virtual void expect_upload(std::int64_t) {}
  // The same of memory of the device that a case takes.
  virtual void expect_memory(std::int64_t) {}

  // A first call takes longer, since it loads kernels.
  virtual bool begins_cold() const { return false; }

  virtual std::int64_t free_bytes() = 0;
  virtual std::int64_t peak_bytes() = 0;  // of this case, without the context

  // By NVML. Any thread may ask for a reading; it never throws and waits for no work of the device.
  // The driver takes milliseconds for an answer, so the set of readings that it has is found once a
  // process.
  virtual DeviceTells tells() const = 0;
  virtual DeviceReading reading() noexcept = 0;
  virtual std::optional<double> energy_j() noexcept = 0;  // since the driver was loaded
  // Other processes that computed on the device since this clock was made; empty if the driver does
  // not say.
  virtual std::optional<std::vector<DeviceProcess>> others() { return std::nullopt; }
};

// Makes a stream and starts the count of peak_bytes. Throws Error(unsupported) with the reason if
// there is no device.
std::unique_ptr<DeviceClock> open_device();

}  // namespace mf
