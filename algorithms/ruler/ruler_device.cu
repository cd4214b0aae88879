// The ruler on the device: an epoch is one kernel that spins for a known time (phase "spin"), and
// perhaps a second one (phase "rest"). All its predictions come from that kernel's writes, so that
// an evaluation that does not wait for the stream is seen in the RMSE as well.
#include <cmath>
#include <cstdint>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/registry.hpp"
#include "base/error.hpp"

namespace mf {
namespace {

constexpr int kThreads = 256;

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// One block: spins until `ns` after it began, then writes `value` n times (small n: no time).
__global__ void spin(std::uint64_t ns, float* out, std::int32_t n, float value) {
  const std::uint64_t start = nanoseconds();
  while (nanoseconds() - start < ns) {
  }
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kThreads) out[i] = value;
}

std::uint64_t from_us(double us) { return static_cast<std::uint64_t>(us * 1e3); }

class RulerDevice : public Algorithm {
 public:
  explicit RulerDevice(const Params& params)
      : spin_ns_(from_us(params.number("spin_us"))),
        rest_ns_(from_us(params.number("rest_us"))),
        prepare_ns_(from_us(params.number("prepare_ms") * 1e3)),
        offset_(params.number("offset")),
        decay_(params.number("decay")),
        fail_at_(params.integer("fail_at")) {}

  // Nothing here waits for the stream: that is the harness's part, and is tested.
  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    stream_ = context.stream;
    nnz_ = train.nnz();
    shape_ = initial;
    p_ = zeros(std::int64_t{shape_.n_users} * shape_.factors);
    q_ = zeros(std::int64_t{shape_.n_items} * shape_.factors);
    user_bias_ = zeros(shape_.n_users);
    item_bias_ = zeros(shape_.n_items);
    launch(prepare_ns_ / 2, 0);  // also loads the kernel
    const PhaseScope transfer(context.phases, "transfer");
    launch(prepare_ns_ / 2, 0);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    if (args.epoch == fail_at_) {
      fail(ErrorKind::unsupported, "the ruler fails in epoch {}", fail_at_);
    }
    {
      const PhaseScope phase(context.phases, "spin");
      launch(spin_ns_, args.epoch);
    }
    if (rest_ns_ == 0) return nnz_;
    const PhaseScope phase(context.phases, "rest");
    launch(rest_ns_, args.epoch);
    return nnz_;
  }

  FactorView factors() override {
    return make_view(shape_, Location::device, p_.data(), q_.data(), shape_.factors,
                     user_bias_.data(), item_bias_.data());
  }

  Work work_per_epoch() const override {
    return {static_cast<double>(nnz_), 4.0 * shape_.n_users, 0};
  }

 private:
  cuda::DeviceBuffer<float> zeros(std::int64_t count) {
    cuda::DeviceBuffer<float> buffer(count);
    if (!buffer.empty()) MF_CUDA(cudaMemsetAsync(buffer.data(), 0, buffer.bytes(), stream_));
    return buffer;
  }

  // Every user's bias becomes offset x decay^epoch.
  void launch(std::uint64_t ns, std::int64_t epoch) {
    const double bias = offset_ * std::pow(decay_, static_cast<double>(epoch));
    spin<<<1, kThreads, 0, stream_>>>(ns, user_bias_.data(), shape_.n_users,
                                      static_cast<float>(bias));
    MF_CUDA_LAUNCHED("spin");
  }

  std::uint64_t spin_ns_, rest_ns_, prepare_ns_;
  double offset_, decay_;
  std::int64_t fail_at_;
  cudaStream_t stream_ = nullptr;
  std::int64_t nnz_ = 0;
  ModelShape shape_;
  cuda::DeviceBuffer<float> p_, q_, user_bias_, item_bias_;
};

const RegisterFactory registered("ruler_device", [](const Params& params) {
  return std::make_unique<RulerDevice>(params);
});

}  // namespace
}  // namespace mf
