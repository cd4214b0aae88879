// The device during one case: the stream of the algorithm, marks on it (CUDA events) and the time
// between them, the memory, the SM clock. Abstract, so that tests can stand in for a device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "algorithms/core/device_stream.hpp"

namespace mf {

class DeviceClock {
 public:
  virtual ~DeviceClock() = default;

  virtual int compute() = 0;          // capability: 90 for 9.0
  virtual DeviceStream stream() = 0;  // that of Context::stream

  // Marks this point of the stream and returns the mark's number. Never throws, because phases end
  // in destructors: what went wrong is thrown by the next synchronize().
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

  virtual std::int64_t free_bytes() = 0;
  virtual std::int64_t peak_bytes() = 0;                  // of this case, without the context
  virtual std::optional<std::int64_t> sm_clock_hz() = 0;  // at this moment; needs NVML
};

// Makes a stream and starts the count of peak_bytes. Throws Error(unsupported) with the reason
// where there is no device.
std::unique_ptr<DeviceClock> open_device();

}  // namespace mf
