#include "algorithms/core/registry.hpp"

namespace mf {
namespace {

AlgorithmInfo ruler_info() {
  AlgorithmInfo info;
  info.name = "ruler";
  info.family = "ruler";
  info.summary = "no algorithm: known times and a known RMSE curve, to test the harness itself";
  info.paper = "mfbench";
  info.deterministic = true;
  info.uses_learning_rate = false;
  info.params = {
      ParamSpec::integer("factors", 1, 1, 1024, "rank of the (zero) factors"),
      ParamSpec::choice("model", "biased", {"biased"}, "prediction model"),
      ParamSpec::number("sleep_ms", 1, 0, 1e6, "length of an epoch", "ms"),
      ParamSpec::number("prepare_ms", 0, 0, 1e6, "length of prepare, half of it transfer", "ms"),
      ParamSpec::number("offset", 1, -1e6, 1e6,
                        "prediction after epoch e: mean + offset x decay^e; nothing personal"),
      ParamSpec::number("decay", 0.5, 0, 10, "see offset"),
      ParamSpec::integer("fail_at", 0, 0, 1'000'000, "fail in this epoch; 0: never")};
  return info;
}

const RegisterInfo registered(ruler_info());

}  // namespace
}  // namespace mf
