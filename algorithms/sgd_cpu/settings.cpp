#include "algorithms/sgd_cpu/settings.hpp"

#include <algorithm>
#include <stdexcept>

namespace mf::sgd_cpu {
namespace {

ParamSpec regularizer(const std::string& name, const std::string& of) {
  return ParamSpec::number(name, -1, -1, 1e6, "L2 regularizer of " + of + "; negative: as reg");
}

double regularizer_of(const Params& params, const std::string& name) {
  const double own = params.number(name);
  return own < 0 ? params.number("reg") : own;
}

std::int64_t rated_items(const Ratings& train) {
  std::vector<bool> seen(static_cast<std::size_t>(train.n_items()));
  for (const std::int32_t item : train.items()) seen[static_cast<std::size_t>(item)] = true;
  return std::count(seen.begin(), seen.end(), true);
}

std::int64_t rating_users(const Ratings& train) {
  const auto offsets = train.user_offsets();
  std::int64_t count = 0;
  for (std::size_t u = 0; u + 1 < offsets.size(); ++u) count += offsets[u] < offsets[u + 1];
  return count;
}

}  // namespace

std::vector<ParamSpec> shared_params() {
  return {
      ParamSpec::integer("factors", 100, 1, 16384, "length f of the rows of P and Q"),
      ParamSpec::choice("model", "biased", {"biased", "plain"},
                        "biased: mu + b_u + c_i + p.q; plain: p.q"),
      ParamSpec::number("reg", 0.02, 0, 1e6, "L2 regularizer of everything not given its own"),
      regularizer("reg_p", "the rows of P"),
      regularizer("reg_q", "the rows of Q"),
      regularizer("reg_user_bias", "the user biases"),
      regularizer("reg_item_bias", "the item biases"),
      ParamSpec::choice("simd", "auto", {"auto", "scalar", "avx2", "avx512"},
                        "instruction set of the inner loop; auto: the best this CPU has"),
  };
}

ParamSpec threads_param() {
  return ParamSpec::integer("threads", 0, 0, 4096, "threads; 0: all hardware threads");
}

Step Settings::step(double rate, double mean) const {
  Step step;
  step.rate = static_cast<float>(rate);
  step.mean = biased() ? static_cast<float>(mean) : 0.0F;
  step.shrink_p = static_cast<float>(rate * reg_p);
  step.shrink_q = static_cast<float>(rate * reg_q);
  step.shrink_user_bias = static_cast<float>(rate * reg_user_bias);
  step.shrink_item_bias = static_cast<float>(rate * reg_item_bias);
  return step;
}

Settings read_settings(const Params& params) {
  Settings settings;
  settings.factors = static_cast<std::int32_t>(params.integer("factors"));
  settings.model = parse_model_kind(params.choice("model"));
  settings.isa = choose_isa(params.choice("simd"));
  settings.reg_p = regularizer_of(params, "reg_p");
  settings.reg_q = regularizer_of(params, "reg_q");
  settings.reg_user_bias = regularizer_of(params, "reg_user_bias");
  settings.reg_item_bias = regularizer_of(params, "reg_item_bias");
  return settings;
}

std::optional<std::string> why_unsupported(const Params& params, const ProblemShape&) {
  const std::string& simd = params.choice("simd");
  if (find_isa(simd)) return std::nullopt;
  return "simd \"" + simd + "\": this CPU lacks it";
}

void check_initial(const Settings& settings, const Ratings& train, const Model& initial) {
  if (initial.kind != settings.model || initial.factors != settings.factors ||
      initial.n_users != train.n_users() || initial.n_items != train.n_items()) {
    throw std::logic_error("the initial factors do not fit the parameters or the ratings");
  }
}

std::int64_t row_stride(std::int64_t factors) { return (factors + 15) / 16 * 16; }

Work epoch_work(const Settings& settings, const Ratings& train) {
  const auto nnz = static_cast<double>(train.nnz());
  const auto rows = static_cast<double>(rating_users(train) + rated_items(train));
  const double row_floats = settings.factors + (settings.biased() ? 1.0 : 0.0);
  Work work;
  work.updates = nnz;
  work.bytes = nnz * sizeof(Rating) + 2 * rows * row_floats * sizeof(float);
  work.flops = nnz * (10.0 * settings.factors + (settings.biased() ? 13.0 : 2.0));
  return work;
}

}  // namespace mf::sgd_cpu
