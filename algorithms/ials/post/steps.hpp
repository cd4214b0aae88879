// Both half-steps of `ials` on the device, by either `solve`. Benchmarks take single half-steps.
#pragma once

#include <memory>

#include "algorithms/als/cumf/half_steps.hpp"
#include "algorithms/core/model.hpp"
#include "algorithms/ials/device_pairs.hpp"
#include "algorithms/ials/post/settings.hpp"

namespace mf::ials {

using als::HalfSteps;
using als::Which;

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
