#include "harness/device/device_clock.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/pinned_ring.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "base/error.hpp"
#include "harness/device/device.hpp"
#include "harness/device/nvml.hpp"

namespace mf {
namespace {

// More events than this at once are made when they are needed.
constexpr std::int64_t kMaxReserved = 1 << 16;

DeviceReading reading_of(Nvml& nvml) {
  return {nvml.sm_clock_hz(), nvml.power_w(), nvml.temperature_c(), nvml.slowdowns()};
}

// The device, the driver's library and its readings, found once for a run (of_device): each takes
// longer than a short case.
struct FoundDevice {
  FoundDevice() {
    std::string why;
    const auto info = find_device(&why);
    if (!info) throw Error(ErrorKind::unsupported, why);  // the next call looks again
    compute = info->compute();
    nvml = open_nvml(info->pci_bus_id);
    if (nvml) tells = {!reading_of(*nvml).empty(), nvml->energy_j().has_value()};
  }
  int compute = 0;
  std::unique_ptr<Nvml> nvml;
  DeviceTells tells;
};

class CudaDeviceClock : public DeviceClock {
 public:
  explicit CudaDeviceClock(const FoundDevice& found)
      : compute_(found.compute), nvml_(found.nvml.get()), tells_(found.tells) {
    cuda::reset_peak_allocated_bytes();
    clear_marks(2);
  }

  int compute() override { return compute_; }
  DeviceStream stream() override { return stream_.get(); }

  std::int64_t mark() noexcept override {
    if (used_ == std::ssize(events_)) {
      cudaEvent_t event = nullptr;
      note(cudaEventCreate(&event), "cudaEventCreate");
      events_.push_back(event);
    }
    note(cudaEventRecord(events_[used_], stream_.get()), "cudaEventRecord");
    return used_++;
  }

  void wait() noexcept override {
    note(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
  }

  void synchronize() override {
    wait();
    const cudaError_t error = std::exchange(error_, cudaSuccess);
    cuda::check(error, failed_call_, __FILE__, __LINE__);
  }

  double seconds(std::int64_t from, std::int64_t to) override {
    float milliseconds = 0;
    MF_CUDA(cudaEventElapsedTime(&milliseconds, events_[from], events_[to]));
    return static_cast<double>(milliseconds) * 1e-3;
  }

  void clear_marks(std::int64_t expected) override {
    used_ = 0;
    const std::int64_t wanted = std::min(expected, kMaxReserved);
    while (std::ssize(events_) < wanted) {
      cudaEvent_t event = nullptr;
      MF_CUDA(cudaEventCreate(&event));
      events_.push_back(event);
    }
  }

  void expect_upload(std::int64_t bytes) override {
    cuda::of_device<cuda::PinnedRing>().reserve(bytes);
  }

  void expect_memory(std::int64_t bytes) override { cuda::reserve(bytes); }

  bool begins_cold() const override { return true; }

  std::int64_t free_bytes() override { return cuda::available_bytes(); }

  std::int64_t peak_bytes() override { return cuda::peak_allocated_bytes(); }

  DeviceTells tells() const override { return tells_; }

  DeviceReading reading() noexcept override {
    return nvml_ != nullptr ? reading_of(*nvml_) : DeviceReading();
  }

  std::optional<double> energy_j() noexcept override {
    return nvml_ ? nvml_->energy_j() : std::nullopt;
  }

  std::optional<std::vector<DeviceProcess>> others() override {
    if (!nvml_) return std::nullopt;
    return others_of(nvml_->processes(opened_us_), ::getpid());
  }

  ~CudaDeviceClock() override {
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
  }

 private:
  // The first failure is the cause of later ones.
  void note(cudaError_t error, const char* call) noexcept {
    if (error == cudaSuccess || error_ != cudaSuccess) return;
    error_ = error;
    failed_call_ = call;
  }

  static std::uint64_t now_us() {
    using std::chrono::microseconds;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<microseconds>(now).count());
  }

  int compute_;
  const std::uint64_t opened_us_ = now_us();
  cuda::Stream stream_;
  std::vector<cudaEvent_t> events_;
  std::int64_t used_ = 0;
  cudaError_t error_ = cudaSuccess;
  const char* failed_call_ = "";
  Nvml* nvml_;  // null: the machine has none
  const DeviceTells tells_;
};

}  // namespace

std::unique_ptr<DeviceClock> open_device() {
  return std::make_unique<CudaDeviceClock>(cuda::of_device<FoundDevice>());
}

}  // namespace mf
