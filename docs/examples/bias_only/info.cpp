#include "algorithms/core/registry.hpp"
#include "algorithms/core/threads_param.hpp"

namespace mf {
namespace {

AlgorithmInfo bias_only_info() {
  AlgorithmInfo info;
  info.name = "bias_only";
  info.family = "bias_only";
  info.title = "Biases";
  info.method = Method::als;
  info.summary = "no factors: user and item biases, each side solved exactly in turn";
  info.paper =
      "Y. Koren, R. Bell, C. Volinsky, \"Matrix Factorization Techniques for Recommender "
      "Systems\", IEEE Computer 42(8), 2009: the biases of equation 3";
  info.deterministic = true;
  info.uses_learning_rate = false;
  info.params = {
      ParamSpec::integer("factors", 1, 1, 1, "the harness asks for it; P and Q stay zero"),
      ParamSpec::choice("model", "biased", {"biased"}, "mu + b_u + c_i"),
      ParamSpec::number("reg_user_bias", 5, 0, 1e6, "shrinks b_u: that many ratings at zero"),
      ParamSpec::number("reg_item_bias", 5, 0, 1e6, "shrinks c_i: that many ratings at zero"),
      threads_param()};
  // The ratings a second time, by item, and the model: its P and Q are there and zero.
  info.memory = [](const Params&) {
    return MemoryUse{.host = {.rating = 8, .number = 8, .row = 12}};
  };
  return info;
}

const RegisterInfo registered(bias_only_info());

}  // namespace
}  // namespace mf
