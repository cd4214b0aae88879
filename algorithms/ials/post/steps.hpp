// Both half-steps of `ials` on the device, by either `solve`. algorithm.cuda.cpp makes an algorithm
// of them; benchmarks take single half-steps.
#pragma once

#include <cstdint>
#include <memory>

#include "algorithms/als/cumf/steps.hpp"
#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/model.hpp"
#include "algorithms/ials/device_pairs.hpp"
#include "algorithms/ials/post/settings.hpp"

namespace mf::ials {

using als::Which;

class HalfSteps {
 public:
  virtual ~HalfSteps() = default;

  // The rows of that side from the others, with its phases; queued on the stream. False: asked to
  // stop.
  virtual bool half_step(Which which, Context& context) = 0;

  // Rows `stride` floats apart, zero beyond the factors.
  virtual float* factors(Which which) = 0;
  std::int64_t stride() const { return stride_; }
  virtual Json facts() const = 0;  // for the result's header

 protected:
  explicit HalfSteps(std::int32_t factors) : stride_(row_stride(factors, sizeof(float))) {}

 private:
  std::int64_t stride_;
};

// Both release the pairs. Rows without pairs are zero from here on.
std::unique_ptr<HalfSteps> make_applied_steps(const IalsSettings& settings, DevicePairs& pairs,
                                              const Model& initial, Context& context);
std::unique_ptr<HalfSteps> make_formed_steps(const IalsSettings& settings, DevicePairs& pairs,
                                             const Model& initial, Context& context);

// By the parameter `solve`.
inline std::unique_ptr<HalfSteps> make_half_steps(const IalsSettings& settings, DevicePairs& pairs,
                                                  const Model& initial, Context& context) {
  const auto make = settings.solve == Solve::cg ? make_applied_steps : make_formed_steps;
  return make(settings, pairs, initial, context);
}

}  // namespace mf::ials
