// The baselines: names, parameters and memory.
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/core/threads_param.hpp"

namespace mf::baseline {
namespace {

AlgorithmInfo shared_info(const std::string& name, Method method) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "baseline";
  info.title = "Baselines";
  info.method = method;
  info.deterministic = true;
  info.uses_learning_rate = false;
  return info;
}

// The harness asks models of P and Q for it.
ParamSpec one_factor() { return ParamSpec::integer("factors", 1, 1, 1, "always 1"); }

AlgorithmInfo popular_info() {
  AlgorithmInfo info = shared_info("popular", Method::closed_form);
  info.summary = "implicit feedback: the items with the most users, the same for all users";
  info.paper = "mfbench";
  info.starts_by_rule = true;
  info.params = {one_factor()};
  // One factor that all users share lowers this loss; its weight does not change the order.
  info.implicit = [](const Params&) { return ImplicitLoss{1, 0}; };
  info.memory = [](const Params&) { return MemoryUse{.host = {.row = 12}}; };
  return info;
}

AlgorithmInfo bias_info() {
  AlgorithmInfo info = shared_info("bias", Method::als);
  info.summary = "ratings: mean, bias of the user and bias of the item, solved in turn; no factors";
  info.paper =
      "Y. Koren, \"Factor in the Neighbors: Scalable and Accurate Collaborative Filtering\", TKDD "
      "4(1), 2010, section 2.1";
  info.starts_by_rule = true;
  info.params = {one_factor(), only_model_param(ModelKind::biased, "mu + b_u + c_i"),
                 ParamSpec::number("reg_user", 10, 0, 1e6, "shrinks b_u: ratings at zero"),
                 ParamSpec::number("reg_item", 25, 0, 1e6, "shrinks c_i: ratings at zero"),
                 threads_param()};
  info.memory = [](const Params&) { return MemoryUse{.host = {.rating = 8, .row = 12}}; };
  return info;
}

AlgorithmInfo history_info(const std::string& name) {
  AlgorithmInfo info = shared_info(name, Method::closed_form);
  info.by_history = true;
  info.starts_by_rule = true;
  return info;
}

AlgorithmInfo item_knn_info() {
  AlgorithmInfo info = history_info("item_knn");
  info.summary = "implicit feedback: the items most similar, by cosine, to those of the history";
  info.paper =
      "M. Deshpande, G. Karypis, \"Item-Based Top-N Recommendation Algorithms\", TOIS 22(1), 2004";
  info.params = {
      ParamSpec::integer("k", 100, 1, 1'000'000, "similar items that are kept of each item"),
      ParamSpec::number("shrinkage", 10, 0, 1e9, "beside the norms in the denominator of a cosine"),
      ParamSpec::constant("weights", "binary"), threads_param()};
  info.memory = [](const Params& params) {
    const auto kept = static_cast<double>(params.integer("k"));
    return MemoryUse{.host = {.rating = 12, .row = 8 * kept + 12.0 * threads_of(params)}};
  };
  return info;
}

AlgorithmInfo ease_shared_info(const std::string& name) {
  AlgorithmInfo info = history_info(name);
  info.paper = "H. Steck, \"Embarrassingly Shallow Autoencoders for Sparse Data\", WWW 2019 (EASE)";
  info.params = {ParamSpec::number("reg", 500, 1e-6, 1e12, "lambda on the diagonal of X^T X"),
                 ParamSpec::constant("weights", "binary")};
  return info;
}

AlgorithmInfo ease_cpu_info() {
  AlgorithmInfo info = ease_shared_info("ease_cpu");
  info.summary = "implicit feedback: each item from all others by least squares, one inverse";
  info.params.push_back(threads_param());
  info.memory = [](const Params&) { return MemoryUse{.host = {.rating = 12, .item_pair = 4}}; };
  return info;
}

AlgorithmInfo ease_info() {
  AlgorithmInfo info = ease_shared_info("ease");
  info.summary = "implicit feedback: each item from all others by least squares, on a GPU";
  info.hardware = Hardware::cuda;
  info.deterministic = false;
  info.memory = [](const Params&) {
    return MemoryUse{.device = {.rating = 8, .item_pair = 4, .fixed = 32e6}};
  };
  return info;
}

const RegisterInfo kItemKnn(item_knn_info());
const RegisterInfo kEaseCpu(ease_cpu_info());
const RegisterInfo kEase(ease_info());
const RegisterInfo kPopular(popular_info());
const RegisterInfo kBias(bias_info());

}  // namespace
}  // namespace mf::baseline
