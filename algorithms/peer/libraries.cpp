#include "algorithms/peer/libraries.hpp"

#include "algorithms/core/sgd_params.hpp"

namespace mf {
namespace {

constexpr const char* kHu =
    "Y. Hu, Y. Koren, C. Volinsky, \"Collaborative Filtering for Implicit Feedback Datasets\", "
    "ICDM 2008";
constexpr const char* kKoren =
    "Y. Koren, R. Bell, C. Volinsky, \"Matrix Factorization Techniques for Recommender Systems\", "
    "IEEE Computer 42(8), 2009";
constexpr const char* kZhou =
    "Y. Zhou, D. Wilkinson, R. Schreiber, R. Pan, \"Large-scale Parallel Collaborative Filtering "
    "for the Netflix Prize\", AAIM 2008";

constexpr const char* kForImplicit = "ALS for implicit feedback";
constexpr const char* kAtEachRating = "L2 of P and Q, at each rating";
constexpr const char* kOfEachRow = "L2 of each row, whatever it has of pairs";
constexpr const char* kTimesRatings = "L2 of each row, times the ratings of the row";

// What every peer has: who computes, and what ends one that does not behave.
std::vector<ParamSpec> with_common(std::vector<ParamSpec> own, bool threads = true) {
  if (threads) {
    own.push_back(ParamSpec::integer("threads", 0, 0, 4096, "threads; 0: all hardware threads"));
  }
  return join_params(
      std::move(own),
      {ParamSpec::number("scratch_gb", 0, 0, 1e6,
                         "of what it may write; 0: nine tenths of what is free there", "GiB")
           .silent(),
       ParamSpec::number("timeout_s", 3600, 0.1, 1e7, "the longest wait for an answer", "s"),
       ParamSpec::number("memory_gb", 0, 0, 1e6,
                         "of all its processes; 0: nine tenths of what is available", "GiB")});
}

// ---- parameters that several have ---------------------------------------------------------------

ParamSpec reg_param(double fallback, const std::string& help) {
  return ParamSpec::number("reg", fallback, 0, 1e6, help);
}

// For a library that divides by it.
ParamSpec positive_reg_param(double fallback, const std::string& help) {
  return ParamSpec::number("reg", fallback, 1e-9, 1e6, help);
}

ParamSpec alpha_param(double fallback) {
  return ParamSpec::number("alpha", fallback, 1e-6, 1e6,
                           "confidence 1 + alpha r of an observed pair");
}

ParamSpec nonnegative_param() {
  return ParamSpec::boolean("nonnegative", false, "P and Q are kept at or above 0");
}

ParamSpec solver_param() {
  return ParamSpec::choice("solver", "cg", {"cg", "cholesky"}, "of a row; cg is the library's own");
}

ParamSpec bias_reg_param(const char* name, double fallback, const char* help) {
  return ParamSpec::number(name, fallback, 0, 1e6, help);
}

// Of programs: which one, and what all have.
std::vector<ParamSpec> of_program(std::vector<ParamSpec> own, bool threads = false) {
  return with_common(
      join_params({ParamSpec::text("program", "its path, in a folder that MFBENCH_PROGRAMS names")},
                  std::move(own)),
      threads);
}

// ---- the three kinds of algorithms --------------------------------------------------------------

struct Described {
  const char* name;
  const char* summary;
  const char* paper;
};

PeerAlgorithm sgd(const Described& said, PeerTraits traits, std::vector<ParamSpec> params) {
  return {traits, said.name, said.summary, said.paper, Method::sgd, std::move(params), nullptr};
}

PeerAlgorithm als(const Described& said, PeerTraits traits, std::vector<ParamSpec> params) {
  return {traits, said.name, said.summary, said.paper, Method::als, std::move(params), nullptr};
}

// With the loss of `reg` times the squares of each row, the same for all.
PeerAlgorithm implicit_als(const Described& said, PeerTraits traits,
                           std::vector<ParamSpec> params) {
  const auto loss = [](const Params& values) {
    return ImplicitLoss{values.number("alpha"), values.number("reg"), 0};
  };
  return {traits, said.name, said.summary, said.paper, Method::als, std::move(params), loss};
}

constexpr PeerTraits kRestarts = {};
constexpr PeerTraits kEachEpoch = {.each_epoch = true};
constexpr PeerTraits kOneRate = {.uses_learning_rate = true};

// ---- packages -----------------------------------------------------------------------------------

PeerLibrary cmfrec() {
  return {
      "cmfrec",
      "cmfrec (PyPI): ALS for ratings and for implicit feedback",
      {als({"als", "ALS for ratings, biases among the unknowns of a row", kZhou}, kRestarts,
           with_common({factors_param(40, 4096), model_param(ModelKind::biased),
                        reg_param(0.05, "L2 of each row"),
                        ParamSpec::boolean("scale_reg", true, "reg times the ratings of the row"),
                        solver_param()})),
       implicit_als({"implicit_als", kForImplicit, kHu}, kRestarts,
                    with_common({factors_param(64, 4096), alpha_param(1),
                                 reg_param(0.05, kOfEachRow), solver_param()}))}};
}

PeerLibrary implicit() {
  return {"implicit",
          "implicit (PyPI): ALS for implicit feedback on CPU and GPU",
          {implicit_als({"als", kForImplicit, kHu}, kEachEpoch,
                        with_common({factors_param(64, 4096), alpha_param(1),
                                     reg_param(0.05, kOfEachRow), solver_param(),
                                     ParamSpec::choice("device", "cpu", {"cpu", "cuda"},
                                                       "cuda: its extension, which has cg")}))}};
}

PeerLibrary lenskit() {
  return {
      "lenskit",
      "LensKit (PyPI): ALS for ratings and for implicit feedback",
      {als({"biased_mf", "ALS for ratings beside biases that are found first", kZhou}, kEachEpoch,
           with_common(
               {factors_param(50, 4096),
                only_model_param(ModelKind::biased, "mu + b_u + c_i, then p.q for what they leave"),
                positive_reg_param(0.1, kTimesRatings),
                ParamSpec::number("damping", 5, 0, 1e6,
                                  "ratings of the mean that a row has for its bias")})),
       implicit_als({"implicit_mf", kForImplicit, kHu}, kEachEpoch,
                    with_common({factors_param(50, 4096), alpha_param(40),
                                 positive_reg_param(0.1, kOfEachRow)}))}};
}

PeerLibrary libmf() {
  constexpr const char* kPaper =
      "W.-S. Chin, Y. Zhuang, Y.-C. Juan, C.-J. Lin, \"A Fast Parallel Stochastic Gradient Method "
      "for Matrix Factorization in Shared Memory Systems\", ACM TIST 6(1), 2015";
  return {"libmf",
          "LIBMF (PyPI): parallel SGD on the CPU",
          {sgd({"sgd", "blocked parallel SGD with a rate for each row, by FPSGD's authors", kPaper},
               kOneRate,
               with_common({factors_param(32, 4096), reg_param(0.05, kAtEachRating),
                            ParamSpec::integer("bins", 0, 0, 10000,
                                               "blocks a side; 0: by threads, as it advises"),
                            nonnegative_param()}))}};
}

PeerLibrary spark() {
  const std::vector<ParamSpec> of_engine = {
      nonnegative_param(), ParamSpec::integer("blocks", 10, 1, 100000, "of users and of items"),
      ParamSpec::boolean("cluster", false,
                         "the master of MFBENCH_SPARK_MASTER; else this machine")};
  PeerAlgorithm implicit =
      als({"implicit_als", "MLlib's ALS for implicit feedback, in partitions", kHu}, kRestarts,
          with_common(
              join_params({factors_param(10, 4096), alpha_param(1),
                           reg_param(0.1, "L2 of each row, times the observed pairs of the row")},
                          of_engine)));
  implicit.implicit = [](const Params& params) {
    return ImplicitLoss{params.number("alpha"), params.number("reg"), 1, false};
  };
  return {"spark",
          "Spark MLlib (pyspark, PyPI): the distributed engine, on this machine",
          {als({"als", "MLlib's ALS for ratings, in partitions", kZhou}, kRestarts,
               with_common(join_params({factors_param(10, 4096), reg_param(0.1, kTimesRatings)},
                                       of_engine))),
           implicit}};
}

PeerLibrary surprise() {
  constexpr const char* kBaselines =
      "Y. Koren, \"Factor in the Neighbors: Scalable and Accurate Collaborative Filtering\", ACM "
      "TKDD 4(1), 2010: section 2.1";
  constexpr PeerTraits kSteps = {.uses_learning_rate = true, .deterministic = true};
  constexpr bool kOneThread = false;
  const std::vector<ParamSpec> shape = {
      ParamSpec::integer("factors", 1, 1, 1, "there are none: P and Q are zero"),
      only_model_param(ModelKind::biased, "mu + b_u + c_i")};
  const auto of_baseline = [&](std::vector<ParamSpec> own) {
    return with_common(join_params(shape, std::move(own)), kOneThread);
  };
  return {
      "surprise",
      "scikit-surprise (PyPI): SVD and BaselineOnly on one thread",
      {als({"baseline_als", "BaselineOnly: mean and biases, each side solved in turn", kBaselines},
           {.deterministic = true},
           of_baseline({bias_reg_param("reg_user_bias", 15, "ratings of 0 a user"),
                        bias_reg_param("reg_item_bias", 10, "ratings of 0 an item")})),
       sgd({"baseline_sgd", "BaselineOnly: mean and biases by SGD", kBaselines}, kSteps,
           of_baseline({reg_param(0.02, "L2 of both biases, at each rating")})),
       sgd({"svd", "SGD with biases, one thread (Cython)", kKoren}, kSteps,
           with_common(join_params({factors_param(100, 4096), model_param(ModelKind::biased)},
                                   regularizer_params()),
                       kOneThread))}};
}

PeerLibrary torch() {
  return {
      "torch",
      "a baseline of ours in PyTorch (PyPI), on CPU and GPU",
      {sgd({"sgd", "embeddings and mini-batches in PyTorch, as everybody writes them", kKoren},
           {.each_epoch = true, .uses_learning_rate = true, .changes_rate = true},
           with_common(
               {factors_param(32, 4096), model_param(ModelKind::biased),
                reg_param(0.02, "L2 of the rows and biases of a rating, at each rating"),
                ParamSpec::integer("batch", 4096, 1, 1 << 30, "ratings of a step"),
                ParamSpec::choice("optimizer", "adam", {"adam", "sgd"}, "adam: of whole matrices"),
                ParamSpec::choice("device", "cpu", {"cpu", "cuda"}, "where")}))}};
}

// ---- programs of one's own ----------------------------------------------------------------------

constexpr PeerTraits kTestsItself = {.takes_test = true};

PeerLibrary cu2rec() {
  constexpr const char* kPaper =
      "N. Greenquist, D. Kilitcioglu, A. Bari, \"cu2rec: Recommender System on CUDA\"";
  return {
      "cu2rec",
      "cu2rec, a program of one's own: SGD with biases on a GPU",
      {sgd(
          {"sgd", "a rating of each user at a time, on a GPU", kPaper},
          {.uses_learning_rate = true, .takes_test = true},
          of_program(
              {factors_param(50, 4096), reg_param(0.02, "L2 of factors and biases, at each rating"),
               ParamSpec::choice("input", "csv", {"csv", "triples"}, "what the build reads"),
               ParamSpec::number("patience", 2, 0, 1e9, "worse tests before its rate is lowered"),
               ParamSpec::number("decay", 0.2, 0, 1, "times that")}))},
      true};
}

PeerLibrary cumf_als() {
  constexpr const char* kPaper =
      "W. Tan et al., \"Matrix Factorization on GPUs with Memory Optimization and Approximate "
      "Computing\" (cuMF_ALS), ICPP 2018";
  return {
      "cumf_als",
      "cuMF_ALS, a program of one's own: ALS on a GPU",
      {als({"als", "its ALS for ratings on a GPU", kPaper}, kTestsItself,
           of_program({factors_param(100, 4096), reg_param(0.05, kTimesRatings),
                       ParamSpec::choice("rows", "items", {"items", "users"},
                                         "its rows, which it solves first"),
                       ParamSpec::integer("x_batch", 1, 1, 1000, "parts of its rows, for memory"),
                       ParamSpec::integer("theta_batch", 3, 1, 1000,
                                          "parts of its columns, for memory")}))},
      true};
}

PeerLibrary cumf_sgd() {
  constexpr const char* kPaper =
      "X. Xie, W. Tan, L. L. Fong, Y. Liang, \"CuMF_SGD: Parallelized Stochastic Gradient Descent "
      "for Matrix Factorization on GPUs\", HPDC 2017";
  constexpr const char* kRateRule = "rate in pass t: alpha / (1 + beta t^1.5)";
  return {"cumf_sgd",
          "cuMF_SGD, a program of one's own: SGD on a GPU",
          {sgd({"sgd", "its SGD without locks on a GPU, fp16", kPaper}, kTestsItself,
               of_program({factors_param(128, 4096), reg_param(0.05, kAtEachRating),
                           ParamSpec::number("alpha", 0.08, 1e-9, 1e6, kRateRule),
                           ParamSpec::number("beta", 0.3, 0, 1e6, kRateRule),
                           ParamSpec::integer("workers", 768, 1, 1 << 20, "updates at a time")}))},
          true};
}

PeerLibrary qmf() {
  return {"qmf",
          "QMF, a program of one's own: ALS for implicit feedback on the CPU",
          {implicit_als(
              {"wals", "its weighted ALS for implicit feedback", kHu}, kRestarts,
              of_program({factors_param(30, 4096), alpha_param(40), reg_param(0.05, kOfEachRow)},
                         true))},
          true};
}

std::vector<PeerLibrary> make_libraries() {
  return {cmfrec(), cu2rec(), cumf_als(), cumf_sgd(), implicit(), lenskit(),
          libmf(),  qmf(),    spark(),    surprise(), torch()};
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
