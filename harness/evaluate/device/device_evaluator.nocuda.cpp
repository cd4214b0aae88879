#include "harness/evaluate/device/device_evaluator.hpp"

#include "harness/evaluate/device/device_refusal.hpp"

namespace mf {
struct DeviceEvaluator::Impl {};

DeviceEvaluator::DeviceEvaluator(View<const std::uint8_t>, View<const std::uint8_t>, DeviceStream) {
  refuse_device_evaluation();
}
DeviceEvaluator::~DeviceEvaluator() = default;

Accuracy DeviceEvaluator::evaluate(const FactorView&, const PredictionRule&, const Ratings&,
                                   DeviceStream, LossMethod) {
  refuse_device_evaluation();
}
AlignedVector<float> DeviceEvaluator::mean_of_draws(const Ratings&, DeviceStream) const {
  refuse_device_evaluation();
}
void DeviceEvaluator::launch(const FactorView&, const PredictionRule&, const Ratings&, DeviceStream,
                             LossMethod) {
  refuse_device_evaluation();
}
LossSums DeviceEvaluator::sums(DeviceStream) { refuse_device_evaluation(); }

}  // namespace mf
