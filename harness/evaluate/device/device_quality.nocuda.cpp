#include "harness/evaluate/device/device_quality.hpp"

#include "harness/evaluate/device/device_refusal.hpp"

namespace mf {
struct DeviceObjective::Impl {};
DeviceObjective::DeviceObjective(const ImplicitObjective&, DeviceStream) {
  refuse_device_evaluation();
}
DeviceObjective::~DeviceObjective() = default;
void DeviceObjective::begin(const FactorView&, DeviceStream) { refuse_device_evaluation(); }
double DeviceObjective::finish() { refuse_device_evaluation(); }

struct DeviceRanking::Impl {};
DeviceRanking::DeviceRanking(const RankedUsers&, View<const std::int32_t>, View<const float>,
                             DeviceStream) {
  refuse_device_evaluation();
}
DeviceRanking::~DeviceRanking() = default;
RankedItems DeviceRanking::rank(const DeviceScores&, DeviceStream, AlignedVector<std::int32_t>*) {
  refuse_device_evaluation();
}
RankedItems DeviceRanking::rank(const float*, std::int32_t, const ItemLists&, DeviceStream,
                                AlignedVector<std::int32_t>*) {
  refuse_device_evaluation();
}
std::int64_t DeviceRanking::ranked_exactly() const { return 0; }

}  // namespace mf
