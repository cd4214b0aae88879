#include "algorithms/peer/libraries.hpp"

#include "algorithms/core/sgd_params.hpp"

namespace mf {
namespace {

constexpr const char* kHu =
    "Y. Hu, Y. Koren, C. Volinsky, \"Collaborative Filtering for Implicit Feedback Datasets\", "
    "ICDM "
    "2008";
constexpr const char* kKoren =
    "Y. Koren, R. Bell, C. Volinsky, \"Matrix Factorization Techniques for Recommender Systems\", "
    "IEEE Computer 42(8), 2009";
constexpr const char* kZhou =
    "Y. Zhou, D. Wilkinson, R. Schreiber, R. Pan, \"Large-scale Parallel Collaborative Filtering "
    "for the Netflix Prize\", AAIM 2008";

// What every peer has: who computes, and what ends one that does not behave.
std::vector<ParamSpec> with_common(std::vector<ParamSpec> own, bool threads = true) {
  if (threads) {
    own.push_back(ParamSpec::integer("threads", 0, 0, 4096, "threads; 0: all hardware threads"));
  }
  ParamSpec scratch = ParamSpec::number(
      "scratch_gb", 0, 0, 1e6, "of what it may write; 0: nine tenths of what is free there", "GiB");
  scratch.silent_default = true;
  return join_params(
      std::move(own),
      {scratch,
       ParamSpec::number("timeout_s", 3600, 0.1, 1e7, "the longest wait for an answer", "s"),
       ParamSpec::number("memory_gb", 0, 0, 1e6,
                         "of all its processes; 0: nine tenths of what is available", "GiB")});
}

ParamSpec reg_param(double fallback, const std::string& help) {
  return ParamSpec::number("reg", fallback, 0, 1e6, help);
}

ImplicitLoss loss_of(const Params& params) {
  return {params.number("alpha"), params.number("reg"), 0};
}

std::vector<ParamSpec> implicit_params(std::vector<ParamSpec> own) {
  return with_common(join_params(
      {factors_param(64, 4096),
       ParamSpec::number("alpha", 1, 1e-6, 1e6, "confidence 1 + alpha r of an observed pair"),
       reg_param(0.05, "L2 of each row, whatever it has of pairs")},
      std::move(own)));
}

PeerLibrary implicit_library() {
  PeerAlgorithm als;
  als.name = "als";
  als.summary = "ALS for implicit feedback";
  als.paper = kHu;
  als.method = Method::als;
  als.each_epoch = true;
  als.params = implicit_params(
      {ParamSpec::choice("solver", "cg", {"cg", "cholesky"}, "of a row; cg is the library's own"),
       ParamSpec::choice("device", "cpu", {"cpu", "cuda"}, "cuda: its extension, which has cg")});
  als.implicit = loss_of;
  return {"implicit", "implicit (PyPI): ALS for implicit feedback on CPU and GPU", {als}};
}

PeerLibrary libmf_library() {
  PeerAlgorithm sgd;
  sgd.name = "sgd";
  sgd.summary = "blocked parallel SGD with a rate for each row, by FPSGD's authors";
  sgd.paper =
      "W.-S. Chin, Y. Zhuang, Y.-C. Juan, C.-J. Lin, \"A Fast Parallel Stochastic Gradient Method "
      "for Matrix Factorization in Shared Memory Systems\", ACM TIST 6(1), 2015";
  sgd.uses_learning_rate = true;
  sgd.params = with_common(
      {factors_param(32, 4096), reg_param(0.05, "L2 of P and Q, at each rating"),
       ParamSpec::integer("bins", 0, 0, 10000, "blocks a side; 0: by threads, as it advises"),
       ParamSpec::boolean("nonnegative", false, "P and Q are kept at or above 0")});
  return {"libmf", "LIBMF (PyPI): parallel SGD on the CPU", {sgd}};
}

PeerLibrary surprise_library() {
  PeerAlgorithm svd;
  svd.name = "svd";
  svd.summary = "SGD with biases, one thread (Cython)";
  svd.paper = kKoren;
  svd.uses_learning_rate = true;
  svd.deterministic = true;
  svd.params = with_common(
      join_params({factors_param(100, 4096), model_param(ModelKind::biased)}, regularizer_params()),
      false);
  PeerAlgorithm baseline;
  baseline.paper =
      "Y. Koren, \"Factor in the Neighbors: Scalable and Accurate Collaborative Filtering\", ACM "
      "TKDD 4(1), 2010: section 2.1";
  baseline.deterministic = true;
  const std::vector<ParamSpec> shape = {
      ParamSpec::integer("factors", 1, 1, 1, "there are none: P and Q are zero"),
      only_model_param(ModelKind::biased, "mu + b_u + c_i")};
  PeerAlgorithm als = baseline;
  als.name = "baseline_als";
  als.summary = "BaselineOnly: mean and biases, each side solved in turn";
  als.method = Method::als;
  als.params = with_common(
      join_params(shape, {ParamSpec::number("reg_user_bias", 15, 0, 1e6, "ratings of 0 a user"),
                          ParamSpec::number("reg_item_bias", 10, 0, 1e6, "ratings of 0 an item")}),
      false);
  PeerAlgorithm sgd = baseline;
  sgd.name = "baseline_sgd";
  sgd.summary = "BaselineOnly: mean and biases by SGD";
  sgd.uses_learning_rate = true;
  sgd.params = with_common(
      join_params(shape, {reg_param(0.02, "L2 of both biases, at each rating")}), false);
  return {
      "surprise", "scikit-surprise (PyPI): SVD and BaselineOnly on one thread", {als, sgd, svd}};
}

PeerLibrary cmfrec_library() {
  const ParamSpec solver =
      ParamSpec::choice("solver", "cg", {"cg", "cholesky"}, "of a row; cg is the library's own");
  PeerAlgorithm als;
  als.name = "als";
  als.summary = "ALS for ratings, biases among the unknowns of a row";
  als.paper = kZhou;
  als.method = Method::als;
  als.params = with_common(
      {factors_param(40, 4096), model_param(ModelKind::biased), reg_param(0.05, "L2 of each row"),
       ParamSpec::boolean("scale_reg", true, "reg times the ratings of the row"), solver});
  PeerAlgorithm implicit;
  implicit.name = "implicit_als";
  implicit.summary = "ALS for implicit feedback";
  implicit.paper = kHu;
  implicit.method = Method::als;
  implicit.params = implicit_params({solver});
  implicit.implicit = loss_of;
  return {"cmfrec", "cmfrec (PyPI): ALS for ratings and for implicit feedback", {als, implicit}};
}

PeerLibrary lenskit_library() {
  PeerAlgorithm biased;
  biased.name = "biased_mf";
  biased.summary = "ALS for ratings beside biases that are found first";
  biased.paper = kZhou;
  biased.method = Method::als;
  biased.each_epoch = true;
  biased.params = with_common(
      {factors_param(50, 4096),
       only_model_param(ModelKind::biased, "mu + b_u + c_i, then p.q for what they leave"),
       ParamSpec::number("reg", 0.1, 1e-9, 1e6, "L2 of each row, times the ratings of the row"),
       ParamSpec::number("damping", 5, 0, 1e6, "ratings of the mean that a row has for its bias")});
  PeerAlgorithm implicit;
  implicit.name = "implicit_mf";
  implicit.summary = "ALS for implicit feedback";
  implicit.paper = kHu;
  implicit.method = Method::als;
  implicit.each_epoch = true;
  implicit.params = with_common(
      {factors_param(50, 4096),
       ParamSpec::number("alpha", 40, 1e-6, 1e6, "confidence 1 + alpha r of an observed pair"),
       ParamSpec::number("reg", 0.1, 1e-9, 1e6, "L2 of each row, whatever it has of pairs")});
  implicit.implicit = loss_of;
  return {
      "lenskit", "LensKit (PyPI): ALS for ratings and for implicit feedback", {biased, implicit}};
}

PeerLibrary spark_library() {
  PeerAlgorithm als;
  als.name = "als";
  als.summary = "MLlib's ALS for ratings, in partitions";
  als.paper = kZhou;
  als.method = Method::als;
  const std::vector<ParamSpec> of_engine = {
      ParamSpec::boolean("nonnegative", false, "P and Q are kept at or above 0"),
      ParamSpec::integer("blocks", 10, 1, 100000, "of users and of items"),
      ParamSpec::boolean("cluster", false,
                         "the master of MFBENCH_SPARK_MASTER; else this machine")};
  als.params = with_common(join_params(
      {factors_param(10, 4096), reg_param(0.1, "L2 of each row, times the ratings of the row")},
      of_engine));
  PeerAlgorithm implicit = als;
  implicit.name = "implicit_als";
  implicit.summary = "MLlib's ALS for implicit feedback, in partitions";
  implicit.paper = kHu;
  implicit.params = with_common(join_params(
      {factors_param(10, 4096),
       ParamSpec::number("alpha", 1, 1e-6, 1e6, "confidence 1 + alpha r of an observed pair"),
       reg_param(0.1, "L2 of each row, times the observed pairs of the row")},
      of_engine));
  implicit.implicit = [](const Params& params) {
    return ImplicitLoss{params.number("alpha"), params.number("reg"), 1, false};
  };
  return {"spark",
          "Spark MLlib (pyspark, PyPI): the distributed engine, on this machine",
          {als, implicit}};
}

PeerLibrary torch_library() {
  PeerAlgorithm sgd;
  sgd.name = "sgd";
  sgd.summary = "embeddings and mini-batches in PyTorch, as everybody writes them";
  sgd.paper = kKoren;
  sgd.each_epoch = true;
  sgd.uses_learning_rate = true;
  sgd.changes_rate = true;
  sgd.params = with_common(
      {factors_param(32, 4096), model_param(ModelKind::biased),
       reg_param(0.02, "L2 of the rows and biases of a rating, at each rating"),
       ParamSpec::integer("batch", 4096, 1, 1 << 30, "ratings of a step"),
       ParamSpec::choice("optimizer", "adam", {"adam", "sgd"}, "adam: of whole matrices"),
       ParamSpec::choice("device", "cpu", {"cpu", "cuda"}, "where")});
  return {"torch", "a baseline of ours in PyTorch (PyPI), on CPU and GPU", {sgd}};
}

// Of programs: which one, and what all have.
std::vector<ParamSpec> of_program(std::vector<ParamSpec> own, bool threads = false) {
  return with_common(
      join_params({ParamSpec::text("program", "its path, in a folder that MFBENCH_PROGRAMS names")},
                  std::move(own)),
      threads);
}

constexpr const char* kRateRule = "rate in pass t: alpha / (1 + beta t^1.5)";

PeerLibrary cumf_als_library() {
  PeerAlgorithm als;
  als.name = "als";
  als.summary = "its ALS for ratings on a GPU";
  als.paper =
      "W. Tan et al., \"Matrix Factorization on GPUs with Memory Optimization and Approximate "
      "Computing\" (cuMF_ALS), ICPP 2018";
  als.method = Method::als;
  als.takes_test = true;
  als.params = of_program(
      {factors_param(100, 4096), reg_param(0.05, "L2 of each row, times the ratings of the row"),
       ParamSpec::choice("rows", "items", {"items", "users"}, "its rows, which it solves first"),
       ParamSpec::integer("x_batch", 1, 1, 1000, "parts of its rows, for memory"),
       ParamSpec::integer("theta_batch", 3, 1, 1000, "parts of its columns, for memory")});
  return {"cumf_als", "cuMF_ALS, a program of one's own: ALS on a GPU", {als}, true};
}

PeerLibrary cumf_sgd_library() {
  PeerAlgorithm sgd;
  sgd.name = "sgd";
  sgd.summary = "its SGD without locks on a GPU, fp16";
  sgd.paper =
      "X. Xie, W. Tan, L. L. Fong, Y. Liang, \"CuMF_SGD: Parallelized Stochastic Gradient Descent "
      "for Matrix Factorization on GPUs\", HPDC 2017";
  sgd.takes_test = true;
  sgd.params =
      of_program({factors_param(128, 4096), reg_param(0.05, "L2 of P and Q, at each rating"),
                  ParamSpec::number("alpha", 0.08, 1e-9, 1e6, kRateRule),
                  ParamSpec::number("beta", 0.3, 0, 1e6, kRateRule),
                  ParamSpec::integer("workers", 768, 1, 1 << 20, "updates at a time")});
  return {"cumf_sgd", "cuMF_SGD, a program of one's own: SGD on a GPU", {sgd}, true};
}

PeerLibrary cu2rec_library() {
  PeerAlgorithm sgd;
  sgd.name = "sgd";
  sgd.summary = "a rating of each user at a time, on a GPU";
  sgd.paper = "N. Greenquist, D. Kilitcioglu, A. Bari, \"cu2rec: Recommender System on CUDA\"";
  sgd.uses_learning_rate = true;
  sgd.takes_test = true;
  sgd.params = of_program(
      {factors_param(50, 4096), reg_param(0.02, "L2 of factors and biases, at each rating"),
       ParamSpec::choice("input", "csv", {"csv", "triples"}, "what the build reads"),
       ParamSpec::number("patience", 2, 0, 1e9, "worse tests before its rate is lowered"),
       ParamSpec::number("decay", 0.2, 0, 1, "times that")});
  return {"cu2rec", "cu2rec, a program of one's own: SGD with biases on a GPU", {sgd}, true};
}

PeerLibrary qmf_library() {
  PeerAlgorithm wals;
  wals.name = "wals";
  wals.summary = "its weighted ALS for implicit feedback";
  wals.paper = kHu;
  wals.method = Method::als;
  wals.params = of_program(
      {factors_param(30, 4096),
       ParamSpec::number("alpha", 40, 1e-6, 1e6, "confidence 1 + alpha r of an observed pair"),
       reg_param(0.05, "L2 of each row, whatever it has of pairs")},
      true);
  wals.implicit = loss_of;
  return {"qmf", "QMF, a program of one's own: ALS for implicit feedback on the CPU", {wals}, true};
}

std::vector<PeerLibrary> make_libraries() {
  return {cmfrec_library(),   cu2rec_library(),   cumf_als_library(), cumf_sgd_library(),
          implicit_library(), lenskit_library(),  libmf_library(),    qmf_library(),
          spark_library(),    surprise_library(), torch_library()};
}

}  // namespace

const std::vector<PeerLibrary>& peer_libraries() {
  static const std::vector<PeerLibrary> libraries = make_libraries();
  return libraries;
}

std::string peer_name(const PeerLibrary& library, const PeerAlgorithm& algorithm) {
  return "peer:" + library.name + ":" + algorithm.name;
}

}  // namespace mf
