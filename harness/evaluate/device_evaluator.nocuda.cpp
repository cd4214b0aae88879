#include "harness/evaluate/device_evaluator.hpp"

#include "base/error.hpp"

namespace mf {
namespace {

[[noreturn]] void refuse() {
  fail(ErrorKind::unsupported,
       "the factors are in device memory, and this build has no CUDA to evaluate them there");
}

}  // namespace

struct DeviceEvaluator::Impl {};

DeviceEvaluator::DeviceEvaluator(View<const std::uint8_t>, View<const std::uint8_t>, DeviceStream) {
  refuse();
}
DeviceEvaluator::~DeviceEvaluator() = default;

Accuracy DeviceEvaluator::evaluate(const FactorView&, const PredictionRule&, const Ratings&,
                                   DeviceStream, LossMethod) {
  refuse();
}
void DeviceEvaluator::launch(const FactorView&, const PredictionRule&, const Ratings&, DeviceStream,
                             LossMethod) {
  refuse();
}
LossSums DeviceEvaluator::sums(DeviceStream) { refuse(); }

}  // namespace mf
