// The one way to an algorithm that is ready to run: for cases, `mfbench plan`, benchmarks and
// tests.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "algorithms/core/algorithm.hpp"

namespace mf {

// Prepares it within the phase "prepare", which also makes the first factors if `initial` has a
// rule for them (Model::rule). `wait`, if given, ends that phase: it waits for the work that
// prepare has queued on a device. Throws Error(unsupported) if this build has no implementation.
std::unique_ptr<Algorithm> prepare_algorithm(const std::string& name, const Params& params,
                                             const Ratings& train, const Model& initial,
                                             Context& context,
                                             const std::function<void()>& wait = {});

}  // namespace mf
