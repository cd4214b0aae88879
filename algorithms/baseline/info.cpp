// The baselines: names, parameters and memory.
#include <fmt/core.h>

#include "algorithms/baseline/similarity.hpp"
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

ParamSpec kept_param(const std::string& name) {
  return ParamSpec::integer(name, 100, 1, 1'000'000, "nearest that are kept of each");
}

ParamSpec nearest_of_param() {
  return ParamSpec::choice("nearest_of", Of::rows, kOf,
                           "rows: the i most like j are kept; columns: the j most like i")
      .silent();
}

ParamSpec normalize_param() {
  return ParamSpec::choice("normalize", "none", {"none", "rows", "columns"},
                           "each row or column of W is divided by its sum")
      .silent();
}

std::optional<std::string> why_no_knn(const Params& params, const ProblemShape&) {
  const Kind kind = params.choice("similarity", kKinds);
  if (kind == Kind::asymmetric && params.number("alpha") > 1) {
    return fmt::format("\"alpha\" is {}: for asymmetric, which has 1 - alpha, it is at most 1",
                       params.number("alpha"));
  }
  const bool counts = kind == Kind::jaccard || kind == Kind::tversky;
  if (counts && params.choice("feature_weights") != "none") {
    return fmt::format(
        "\"feature_weights\" is \"{}\": {} counts features, so it must be \"none\"; cosine, "
        "asymmetric and dot take weights",
        params.choice("feature_weights"), params.choice("similarity"));
  }
  return std::nullopt;
}

AlgorithmInfo knn_info(const std::string& name) {
  AlgorithmInfo info = history_info(name);
  info.params = {
      kept_param("k"),
      ParamSpec::number("shrinkage", 10, 0, 1e9, "beside the norms in the denominator of a cosine"),
      ParamSpec::constant("weights", "binary"),
      ParamSpec::choice("similarity", Kind::cosine, kKinds, "of the sets of users, or of items")
          .silent(),
      ParamSpec::number("alpha", 0.5, 0, 10, "of asymmetric and tversky: the share of j").silent(),
      ParamSpec::number("beta", 0.5, 0, 10, "of tversky: the share of i").silent(),
      ParamSpec::choice("feature_weights", FeatureWeights::none, kFeatureWeights,
                        "the weight of a user, or an item, in common")
          .silent(),
      nearest_of_param(),
      threads_param()};
  info.supports = why_no_knn;
  return info;
}

MemoryUse neighbours_memory(const Params& params, double kept) {
  return {.host = {.rating = 12, .row = 16 * kept + 64.0 + 16.0 * threads_of(params)}};
}

AlgorithmInfo item_knn_info() {
  AlgorithmInfo info = knn_info("item_knn");
  info.phases = {"assemble"};
  info.summary = "implicit feedback: items similar to the items of the history";
  info.paper =
      "M. Deshpande, G. Karypis, \"Item-Based Top-N Recommendation Algorithms\", TOIS 22(1), 2004";
  info.params.push_back(normalize_param());
  info.memory = [](const Params& params) {
    return neighbours_memory(params, static_cast<double>(params.integer("k")));
  };
  return info;
}

AlgorithmInfo user_knn_info() {
  AlgorithmInfo info = knn_info("user_knn");
  info.summary = "implicit feedback: items of the users whose histories are most similar";
  info.paper =
      "B. Sarwar, G. Karypis, J. Konstan, J. Riedl, \"Analysis of Recommendation Algorithms for "
      "E-Commerce\", EC 2000";
  info.memory = [](const Params& params) {
    const bool columns = params.choice("nearest_of") == "columns";
    return neighbours_memory(params, columns ? static_cast<double>(params.integer("k")) / 2 : 0);
  };
  return info;
}

AlgorithmInfo rp3beta_info() {
  AlgorithmInfo info = history_info("rp3beta");
  info.phases = {"assemble"};
  info.summary =
      "implicit feedback: a random walk to a user and on, less to popular items; beta 0 "
      "is P3alpha";
  info.paper =
      "B. Paudel, F. Christoffel, C. Newell, A. Bernstein, \"Updatable, Accurate, Diverse, and "
      "Scalable Recommendations for Interactive Applications\", TiiS 7(1), 2017";
  info.params = {ParamSpec::number("alpha", 0.8, 0, 2, "exponent of the probabilities of a step"),
                 ParamSpec::number("beta", 0.3, 0, 2, "exponent of an item's popularity"),
                 kept_param("neighbors"),
                 ParamSpec::constant("weights", "binary"),
                 nearest_of_param(),
                 normalize_param(),
                 threads_param()};
  info.memory = [](const Params& params) {
    return neighbours_memory(params, static_cast<double>(params.integer("neighbors")));
  };
  return info;
}

AlgorithmInfo ease_shared_info(const std::string& name) {
  AlgorithmInfo info = history_info(name);
  info.paper =
      "H. Steck, \"Embarrassingly Shallow Autoencoders for Sparse Data\", WWW 2019 (EASE); "
      "dropout: "
      "H. Steck, \"Autoencoders that don't overfit towards the Identity\", NeurIPS 2020 (EDLAE)";
  info.phases = {"gram", "inverse", "weights"};
  info.params = {
      ParamSpec::number("reg", 500, 1e-6, 1e12, "lambda on the diagonal of X^T X"),
      ParamSpec::number("dropout", 0, 0, 0.99,
                        "p: p / (1 - p) times the users of an item is added to its lambda")
          .silent(),
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

// The same algorithm, whose nearest a device finds.
AlgorithmInfo on_device(AlgorithmInfo info) {
  info.name += "_device";
  info.summary += ", on a GPU";
  info.hardware = Hardware::cuda;
  info.memory = [of_host = info.memory](const Params& params) {
    return MemoryUse{of_host(params).host, {.rating = 8, .row = 28, .fixed = 604e6}};
  };
  return info;
}

// For `rows` there is nothing to find in training.
AlgorithmInfo user_knn_device_info() {
  AlgorithmInfo info = on_device(user_knn_info());
  info.params = with_defaults(std::move(info.params), {{"nearest_of", "columns"}});
  return info;
}

const RegisterInfo kItemKnn(item_knn_info());
const RegisterInfo kItemKnnDevice(on_device(item_knn_info()));
const RegisterInfo kUserKnn(user_knn_info());
const RegisterInfo kUserKnnDevice(user_knn_device_info());
const RegisterInfo kRp3beta(rp3beta_info());
const RegisterInfo kRp3betaDevice(on_device(rp3beta_info()));
const RegisterInfo kEaseCpu(ease_cpu_info());
const RegisterInfo kEase(ease_info());
const RegisterInfo kPopular(popular_info());
const RegisterInfo kBias(bias_info());

}  // namespace
}  // namespace mf::baseline
