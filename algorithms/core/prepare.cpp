#include "algorithms/core/prepare.hpp"

#include "algorithms/core/registry.hpp"

namespace mf {
namespace {

Model made(const Model& start, const Context& context) {
  const PhaseScope phase(context.phases, "initial_factors");
  Model model = start;
  make_rows(model, *context.team);
  return model;
}

}  // namespace

std::unique_ptr<Algorithm> prepare_algorithm(const std::string& name, const Params& params,
                                             const Ratings& train, const Model& initial,
                                             Context& context, const std::function<void()>& wait) {
  auto algorithm = make_algorithm(name, params);
  const PhaseScope phase(context.phases, "prepare");
  if (initial.rule && !find_algorithm(name).starts_by_rule) {
    algorithm->prepare(train, made(initial, context), context);
  } else {
    algorithm->prepare(train, initial, context);
  }
  if (wait) wait();
  return algorithm;
}

}  // namespace mf
