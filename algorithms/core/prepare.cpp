#include "algorithms/core/prepare.hpp"

#include "algorithms/core/registry.hpp"

namespace mf {

std::unique_ptr<Algorithm> prepare_algorithm(const std::string& name, const Params& params,
                                             const Ratings& train, const Model& initial,
                                             Context& context, const std::function<void()>& wait) {
  auto algorithm = make_algorithm(name, params);
  const PhaseScope phase(context.phases, "prepare");
  algorithm->prepare(train, initial, context);
  if (wait) wait();
  return algorithm;
}

}  // namespace mf
