#include "harness/evaluate/device_quality.hpp"

#include "base/error.hpp"

namespace mf {
namespace {

[[noreturn]] void refuse() {
  fail(ErrorKind::unsupported,
       "the factors are in device memory, and this build has no CUDA to evaluate them there");
}

}  // namespace

struct DeviceObjective::Impl {};
DeviceObjective::DeviceObjective(const ImplicitObjective&, DeviceStream) { refuse(); }
DeviceObjective::~DeviceObjective() = default;
double DeviceObjective::evaluate(const FactorView&, DeviceStream) { refuse(); }

struct DeviceRanking::Impl {};
DeviceRanking::DeviceRanking(const RankedUsers&, View<const std::int32_t>, View<const float>,
                             DeviceStream) {
  refuse();
}
DeviceRanking::~DeviceRanking() = default;
RankedItems DeviceRanking::rank(const DeviceScores&, DeviceStream, AlignedVector<std::int32_t>*) {
  refuse();
}
RankedItems DeviceRanking::select(View<const float>, std::int32_t, DeviceStream,
                                  AlignedVector<std::int32_t>*) {
  refuse();
}

}  // namespace mf
