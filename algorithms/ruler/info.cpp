// ruler and ruler_device: names, parameters and memory.
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf {
namespace {

// `own`: parameters that the two do not share.
std::vector<ParamSpec> ruler_params(std::vector<ParamSpec> own) {
  return join_params(
      join_params({ParamSpec::integer("factors", 1, 1, 1024, "rank of the (zero) factors"),
                   only_model_param(ModelKind::biased, "prediction model")},
                  std::move(own)),
      {ParamSpec::number("offset", 1, -1e6, 1e6,
                         "prediction after epoch e: mean + offset x decay^e; nothing personal"),
       ParamSpec::number("decay", 0.5, 0, 10, "see offset"),
       ParamSpec::integer("fail_at", 0, 0, 1'000'000, "fail in this epoch; 0: never")});
}

AlgorithmInfo named(const std::string& name, const std::string& summary,
                    std::vector<ParamSpec> own) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "ruler";
  info.title = "The harness's own";
  info.summary = summary;
  info.paper = "mfbench";
  info.deterministic = true;
  info.uses_learning_rate = false;
  info.params = ruler_params(std::move(own));
  return info;
}

AlgorithmInfo ruler_device_info() {
  AlgorithmInfo info = named(
      "ruler_device", "the ruler on a CUDA device: its epochs spin there for a known time",
      {ParamSpec::number("spin_us", 1000, 0, 1e8, "length of the phase spin of an epoch", "us"),
       ParamSpec::number("rest_us", 0, 0, 1e8, "length of the phase rest after it; 0: none", "us"),
       ParamSpec::number("prepare_ms", 0, 0, 1e5, "length of prepare, half of it transfer", "ms")});
  info.hardware = Hardware::cuda;
  info.phases = {"spin", "rest"};
  info.memory = [](const Params&) { return MemoryUse{.device = {.number = 4, .row = 4}}; };
  return info;
}

const RegisterInfo registered(named(
    "ruler", "no algorithm: known times and a known RMSE curve, to test the harness itself",
    {ParamSpec::number("sleep_ms", 1, 0, 1e6, "length of an epoch", "ms"),
     ParamSpec::number("prepare_ms", 0, 0, 1e6, "length of prepare, half of it transfer", "ms")}));
const RegisterInfo registered_device(ruler_device_info());

}  // namespace
}  // namespace mf
