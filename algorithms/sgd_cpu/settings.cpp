#include "algorithms/sgd_cpu/settings.hpp"

namespace mf::sgd_cpu {

std::vector<ParamSpec> shared_params() {
  std::vector<ParamSpec> params = {
      ParamSpec::integer("factors", 100, 1, 16384, "length f of the rows of P and Q"),
      ParamSpec::choice("model", "biased", {"biased", "plain"},
                        "biased: mu + b_u + c_i + p.q; plain: p.q")};
  for (auto& regularizer : regularizer_params()) params.push_back(std::move(regularizer));
  params.push_back(
      ParamSpec::choice("simd", "auto", {"auto", "scalar", "avx2", "avx512"},
                        "instruction set of the inner loop; auto: the best this CPU has"));
  return params;
}

ParamSpec threads_param() {
  return ParamSpec::integer("threads", 0, 0, 4096, "threads; 0: all hardware threads");
}

Step Settings::step(double rate, double mean) const {
  Step step;
  step.rate = static_cast<float>(rate);
  step.mean = biased() ? static_cast<float>(mean) : 0.0F;
  step.shrink_p = static_cast<float>(rate * reg.p);
  step.shrink_q = static_cast<float>(rate * reg.q);
  step.shrink_user_bias = static_cast<float>(rate * reg.user_bias);
  step.shrink_item_bias = static_cast<float>(rate * reg.item_bias);
  return step;
}

Settings read_settings(const Params& params) {
  Settings settings;
  settings.factors = static_cast<std::int32_t>(params.integer("factors"));
  settings.model = parse_model_kind(params.choice("model"));
  settings.isa = choose_isa(params.choice("simd"));
  settings.reg = read_regularizers(params);
  return settings;
}

std::optional<std::string> why_unsupported(const Params& params, const ProblemShape&) {
  const std::string& simd = params.choice("simd");
  if (find_isa(simd)) return std::nullopt;
  return "simd \"" + simd + "\": this CPU lacks it";
}

std::int64_t row_stride(std::int64_t factors) { return (factors + 15) / 16 * 16; }

Work epoch_work(const Settings& settings, const Ratings& train) {
  const auto nnz = static_cast<double>(train.nnz());
  const auto rows = static_cast<double>(count_rating_users(train) + count_rated_items(train));
  const double row_floats = settings.factors + (settings.biased() ? 1.0 : 0.0);
  Work work;
  work.updates = nnz;
  work.bytes = nnz * sizeof(Rating) + 2 * rows * row_floats * sizeof(float);
  work.flops = nnz * (10.0 * settings.factors + (settings.biased() ? 13.0 : 2.0));
  return work;
}

}  // namespace mf::sgd_cpu
