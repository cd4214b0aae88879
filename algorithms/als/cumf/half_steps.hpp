// Interface of both half-steps of ALS on a device: of `als` by one device or by devices that gather
// factors (steps.hpp), or by devices that reduce systems (algorithm.cuda.cpp); and of the
// algorithms for implicit feedback.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/cuda/ranks/device_communicator.hpp"
#include "base/json/json.hpp"

namespace mf::als {

class DeviceCenter;

enum class Which { users, items };  // whose rows are solved: X, or Theta
constexpr Which other_of(Which which) {
  return which == Which::users ? Which::items : Which::users;
}

class HalfSteps {
 public:
  virtual ~HalfSteps() = default;

  // For `center: solved`. Devices that reduce cannot do it. The center must outlive this object.
  virtual void solve_biases(DeviceCenter& /*center*/) {}
  // The rows of that side from the others, with its phases; queued on the stream. False: asked to
  // stop. Over ranks it is not asked.
  virtual bool half_step(Which which, Context& context) = 0;
  // Queued, so that rank 0 has the rows of all.
  virtual void gather() {}

  // For all rows, in device memory, `stride` floats apart; over ranks, on rank 0 after gather().
  virtual float* factors(Which which) = 0;
  virtual std::int64_t stride() const = 0;
  virtual Json facts() const = 0;
};

}  // namespace mf::als
