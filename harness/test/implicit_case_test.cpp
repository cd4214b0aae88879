// Cases of implicit feedback: their metrics, from the spec to the result and its readers.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "algorithms/core/registry.hpp"
#include "harness/evaluate/model_io.hpp"
#include "harness/evaluate/quality.hpp"
#include "harness/results/compare/compare.hpp"
#include "harness/results/summary.hpp"
#include "harness/run/data/data_store.hpp"
#include "harness/run/plan/preflight.hpp"
#include "harness/test/quality_reference.hpp"
#include "harness/test/runs.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;
using testing::result_of;
using testing::run_in;
using testing::run_one;
using testing::spec_from;
using testing::TempFolder;

// Exact alternating least squares, by the harness's own fold-in; from the epoch `blows_up` on the
// factors are multiplied by `by` twice.
class Folder : public Algorithm {
 public:
  explicit Folder(const Params& params)
      : loss_{ImplicitLoss{params.number("alpha"), params.number("reg"), 0}, 0},
        blows_up_(params.integer("blows_up")),
        by_(params.number("by")) {}
  void prepare(const Ratings& train, const Model& initial, Context&) override {
    train_ = &train;
    model_ = initial;
  }
  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    solve(model_.q, model_.n_items, model_.p, model_.n_users, true, *context.team);
    solve(model_.p, model_.n_users, model_.q, model_.n_items, false, *context.team);
    if (args.epoch >= blows_up_) {
      for (float& x : model_.p) x = x * static_cast<float>(by_) * static_cast<float>(by_);
    }
    return 2 * train_->nnz();
  }
  FactorView factors() override { return model_.view(); }
  Work work_per_epoch() const override { return {}; }

 private:
  void solve(AlignedVector<float>& from, std::int32_t n_from, AlignedVector<float>& to,
             std::int32_t n_to, bool by_user, ThreadTeam& team) {
    FactorView view;
    view.n_items = n_from;
    view.factors = model_.factors;
    view.q = from.data();
    view.q_stride = model_.factors;
    const FoldIn fold(view, loss_, team);
    std::vector<std::vector<RowRating>> rows(n_to);
    for (std::int64_t i = 0; i < train_->nnz(); ++i) {
      const Rating r = (*train_)[i];
      rows[by_user ? r.user : r.item].push_back({by_user ? r.item : r.user, r.value});
    }
    for (std::int32_t r = 0; r < n_to; ++r) {
      const auto row = fold.solve(View<const RowRating>(rows[r]));
      std::copy(row.factors.begin(), row.factors.end(),
                to.begin() + std::int64_t{r} * model_.factors);
    }
  }

  FoldInLoss loss_;
  std::int64_t blows_up_;
  double by_;
  const Ratings* train_ = nullptr;
  Model model_;
};

AlgorithmInfo folder_info() {
  AlgorithmInfo info;
  info.name = "folder";
  info.family = "test";
  info.uses_learning_rate = false;
  info.params = {ParamSpec::integer("factors", 6, 1, 64, ""),
                 ParamSpec::number("alpha", 2, 0, 100, ""), ParamSpec::number("reg", 1, 0, 100, ""),
                 ParamSpec::integer("blows_up", 1000, 1, 1000, ""),
                 ParamSpec::number("by", 1, 0, 1e38, "")};
  info.implicit = [](const Params& params) {
    return ImplicitLoss{params.number("alpha"), params.number("reg"), 0};
  };
  return info;
}

const RegisterInfo registered(folder_info());
const RegisterFactory registered_factory("folder", [](const Params& params) {
  return std::make_unique<Folder>(params);
});

Spec spec_of(const std::string& algorithms, const std::string& more = "") {
  return spec_from(R"({"name": "t", "datasets": [{"like": "ml-100k", "scale": 0.05}], )" +
                   (contains(more, "\"stop\"") ? "" : std::string(R"("stop": {"epochs": 3}, )")) +
                   more + R"("algorithms": [)" + algorithms + "]}");
}

TEST(ImplicitCase, HasObjectiveAndRankingButNoRmse) {
  const ResultFile file = run_one(spec_of("\"folder\""));
  EXPECT_EQ(file.header["loss"],
            (Json{{"kind", "implicit"}, {"alpha", 2.0}, {"reg", 1.0}, {"reg_exponent", 0.0}}));
  const Json& ranking = file.header["ranking"];
  EXPECT_GT(ranking["users"], 20);
  EXPECT_EQ(ranking["users"], ranking["users_with_held_out"]);
  ASSERT_EQ(file.trace.size(), 4u);
  double before = std::numeric_limits<double>::infinity();
  for (const Json& point : file.trace) {
    EXPECT_TRUE(point["test_rmse"].is_null());
    EXPECT_TRUE(point["test_mae"].is_null());
    EXPECT_LT(point["objective"], before) << "an exact method always descends";
    before = point["objective"];
    for (const char* name : {"recall_20", "recall_50", "ndcg_100", "map_10"}) {
      EXPECT_GE(point[name], 0) << name;
      EXPECT_LE(point[name], 1) << name;
    }
  }
  EXPECT_TRUE(file.footer["final_test_rmse"].is_null());
  EXPECT_TRUE(file.footer["best_test_rmse"].is_null());
  const Json& metrics = file.footer["metrics"];
  EXPECT_EQ(metrics["objective"]["final"], file.trace[3]["objective"]);
  EXPECT_EQ(metrics["objective"]["best"], file.trace[3]["objective"]);
  EXPECT_EQ(metrics["objective"]["best_epoch"], 3);
  EXPECT_EQ(metrics["ndcg_100"]["best_epoch"], file.footer["best_epoch"]);
  double best = 0;
  for (const Json& point : file.trace) best = std::max(best, point["ndcg_100"].get<double>());
  EXPECT_EQ(metrics["ndcg_100"]["best"], best);
}

// The first signal leaves an evaluation some seconds, since the last epoch is worth its point; the
// second gives it up.
TEST(ImplicitCase, ASignalEndsARanking) {
  const Spec spec = spec_of("\"folder\"");
  for (const int level : {1, 2}) {
    int evaluations = 0, now = 0;
    RunOptions options;
    options.on_range = [&](const std::string& name, bool begins) {
      if (begins && name == "evaluate" && ++evaluations == 2) now = level;
    };
    options.interrupted = [&] { return now; };
    const ResultFile file = run_one(spec, options);
    EXPECT_EQ(file.footer["status"], "interrupted");
    EXPECT_EQ(file.footer["epochs"], 1);
    EXPECT_EQ(std::ssize(file.trace), level == 1 ? 2 : 1);
    EXPECT_HAS(file.footer["stop_reason"].get<std::string>(),
               level == 1 ? "stopped by the user after epoch 1"
                          : "given up after epoch 1, interrupted while waiting "
                            "for the ranking of items for ");
  }
}

// Those that score histories are ranked, and have no objective that could diverge.
TEST(ImplicitCase, AModelWithoutFactorsIsRankedOnly) {
  for (const std::string name : {"item_knn", "ease_cpu"}) {
    const Spec spec = spec_of('"' + name + '"', R"("save_model": true, "split": {"users": 0.2}, )");
    const TempFolder folder;
    run_in(folder / "r", spec);
    const ResultFile file = result_of(folder / "r", spec.cases.at(0));
    EXPECT_EQ(file.footer["status"], "completed") << file.footer.dump();
    EXPECT_TRUE(file.header.value("loss", Json()).is_null());
    EXPECT_EQ(file.header["ranking"]["folded_in_users"], file.header["ranking"]["users"]);
    ASSERT_EQ(file.trace.size(), 2u);  // of epochs 0 and 1
    EXPECT_FALSE(file.trace[1].contains("objective"));
    EXPECT_GT(file.trace[1]["ndcg_100"], 2 * file.trace[0]["ndcg_100"].get<double>());
    EXPECT_FALSE(std::filesystem::exists(folder / "r/models"));
  }
}

TEST(ImplicitCase, APairwiseModelIsRankedOnlyAndFoldsIn) {
  const Spec spec = spec_of(R"({"name": "bpr_cpu", "factors": 4})", R"("split": {"users": 0.2}, )");
  const ResultFile file = run_one(spec);
  EXPECT_EQ(file.footer["status"], "completed") << file.footer.dump();
  EXPECT_EQ(file.header["loss"]["kind"], "implicit");
  EXPECT_EQ(file.header["ranking"]["folded_in_users"], file.header["ranking"]["users"]);
  EXPECT_FALSE(file.trace.back().contains("objective"));
  EXPECT_GT(file.trace.back()["ndcg_100"], file.trace[0]["ndcg_100"].get<double>());
}

TEST(ImplicitCase, RanksASampleOrNoUser) {
  const ResultFile sample =
      run_one(spec_of("\"folder\"", R"("evaluate": {"ranking": {"users": 20, "seed": 4}}, )"));
  EXPECT_EQ(sample.header["ranking"]["users"], 20);
  EXPECT_EQ(sample.header["ranking"]["sample_seed"], 4);
  const Spec none = spec_of("\"folder\"", R"("evaluate": {"ranking": false}, )");
  EXPECT_EQ(main_metric(none.cases[0]), kObjective);
  const ResultFile file = run_one(none);
  EXPECT_FALSE(file.header.contains("ranking"));
  EXPECT_FALSE(file.trace[0].contains("ndcg_100"));
  EXPECT_TRUE(file.trace[0]["objective"].is_number());
}

TEST(ImplicitCase, NeedsATestPartWhereItIsRankedAlone) {
  const TempFolder folder;
  std::ofstream(folder / "d.txt") << "1 1 3\n1 2 4\n2 1 5\n3 1 2\n";
  for (const bool ranking : {true, false}) {
    const Spec spec = spec_from(R"({"name": "t", "datasets": [{"path": ")" + folder / "d.txt" +
                                R"("}], "algorithms": ["folder"], "split": {"leave_out": 9},
                       "stop": {"epochs": 1}, "evaluate": {"ranking": )" +
                                (ranking ? "true" : "false") + "}}");
    const ResultFile file = run_one(spec);
    const std::string reason = file.footer["stop_reason"];
    EXPECT_EQ(file.footer["status"], ranking ? "error" : "completed") << reason;
    EXPECT_EQ(contains(reason, "\"ranking\": false"), ranking) << reason;
  }
}

TEST(ImplicitCase, ExplicitRatingsAreRankedOnRequest) {
  const Spec plain = spec_of("\"als_cpu\"");
  EXPECT_FALSE(plain.cases[0].resolved["evaluate"].contains("ranking")) << "hashes stay";
  const ResultFile without = run_one(plain);
  EXPECT_FALSE(without.trace[0].contains("ndcg_100"));
  const ResultFile with = run_one(spec_of("\"als_cpu\"", R"("evaluate": {"ranking": true}, )"));
  EXPECT_EQ(with.trace[1]["test_rmse"], without.trace[1]["test_rmse"]);
  EXPECT_TRUE(with.trace[1]["ndcg_100"].is_number());
  EXPECT_FALSE(with.trace[1].contains("objective"));
  EXPECT_EQ(with.footer["best_epoch"], without.footer["best_epoch"]);
}

// At any k, beside the usual ones; the target of a spec asks for it.
TEST(ImplicitCase, IsMeasuredByWhatIsNamed) {
  const ResultFile file = run_one(spec_of(
      "\"folder\"", R"("target": {"metric": "ndcg@10", "value": 0.9}, "evaluate": {"metrics":
                    ["hit_rate@10", "recall@10", "precision@10", "mrr@10", "recall@1"]}, )"));
  EXPECT_EQ(file.header["target"]["metric"], "ndcg_10");
  EXPECT_EQ(file.header["ranking"]["metrics"],
            (Json{"recall_20", "recall_50", "ndcg_100", "map_10", "recall_1", "recall_10",
                  "ndcg_10", "mrr_10", "hit_rate_10", "precision_10"}));
  const Json& last = file.trace.back();
  EXPECT_EQ(file.footer["metrics"]["ndcg_10"]["final"], last["ndcg_10"]);
  EXPECT_GE(last["hit_rate_10"], last["mrr_10"].get<double>());
  EXPECT_GE(last["hit_rate_10"], last["recall_10"].get<double>());
  EXPECT_GE(last["mrr_10"], last["recall_1"].get<double>());
  EXPECT_LE(last["precision_10"], last["recall_10"].get<double>());
  EXPECT_GT(last["precision_10"], 0);
}

TEST(ImplicitCase, DivergesByItsObjective) {
  const ResultFile large = run_one(spec_of(R"({"name": "folder", "blows_up": 2, "by": 1000})"));
  EXPECT_EQ(large.footer["status"], "diverged");
  EXPECT_HAS(large.footer["stop_reason"].get<std::string>(), "objective");
  EXPECT_EQ(large.footer["epochs"], 2);
  const ResultFile nan = run_one(spec_of(R"({"name": "folder", "blows_up": 2, "by": 1e38})"));
  EXPECT_EQ(nan.footer["status"], "diverged");
  EXPECT_TRUE(nan.trace.back()["ndcg_100"].is_null()) << nan.trace.back();
  EXPECT_TRUE(nan.footer["metrics"]["ndcg_100"]["final"].is_null());
  EXPECT_TRUE(nan.footer["metrics"]["ndcg_100"]["best"].is_number());
}

std::string refusal(const std::string& algorithm, const std::string& more) {
  return message_of([&] { spec_of(algorithm, more); });
}

TEST(ImplicitCase, RulesThatNameWhatItHasNotAreRefused) {
  const std::string target = refusal("\"folder\"", R"("stop": {"target_rmse": 0.9}, )");
  EXPECT_HAS(target, "$.algorithms[0].stop.target_rmse");
  EXPECT_HAS(target, "{\"metric\": \"ndcg_100\", \"value\": 0.3}");
  const std::string monitor =
      refusal("\"folder\"", R"("stop": {"plateau": {"monitor": "validation"}}, )");
  EXPECT_HAS(monitor, "stop.plateau.monitor");
  EXPECT_HAS(monitor, "has no RMSE");
  const std::string objective =
      refusal("\"als_cpu\"", R"("stop": {"target": {"metric": "objective", "value": 1}}, )");
  EXPECT_HAS(objective, "explicit ratings");
  const std::string ranking =
      refusal("\"als_cpu\"", R"("stop": {"target": {"metric": "map_10", "value": 1}}, )");
  EXPECT_HAS(ranking, "\"ranking\": true");
  EXPECT_HAS(
      refusal(
          "\"folder\"",
          R"("evaluate": {"ranking": false}, "stop": {"target": {"metric": "map_10", "value": 1}}, )"),
      "\"ranking\": true");
  EXPECT_HAS(refusal("\"folder\"", R"("stop": {"target": {"metric": "ndgc_100", "value": 1}}, )"),
             "ndcg_100");
  EXPECT_EQ(refusal("\"folder\"", R"("schedule": {"kind": "plateau"}, )"), "no error")
      << "who has no learning rate ignores the schedule";
}

// The default monitor is NDCG@100 of a validation part, and every case with such a part has it
// beside the test part's, to choose an epoch by.
TEST(ImplicitCase, RulesWatchTheRankingOfAValidationPart) {
  const Spec spec = spec_of("\"folder\"", R"("stop": {"epochs": 3, "plateau": {"patience": 9}}, )");
  const Case& item = spec.cases[0];
  EXPECT_EQ(item.split.validation_fraction, 0.1);
  EXPECT_EQ(item.resolved["stop"]["plateau"]["monitor"], "validation_ndcg_100");
  const TempFolder folder;
  run_in(folder / "r", spec);
  const ResultFile file = result_of(folder / "r", item);
  for (const Json& point : file.trace) {
    EXPECT_TRUE(point["validation_ndcg_100"].is_number());
    EXPECT_TRUE(point["ndcg_100"].is_number());
    EXPECT_NE(point["validation_ndcg_100"], point["ndcg_100"]);
  }
}

TEST(ImplicitCase, WhatAModelWithoutFactorsHasNotIsRefused) {
  const std::string objective =
      refusal("\"ease_cpu\"", R"("target": {"metric": "objective", "value": 9}, )");
  EXPECT_HAS(objective, "ease_cpu does not minimize the objective");
  EXPECT_HAS(refusal("\"item_knn\"", R"("evaluate": {"ranking": false}, )"),
             "nothing to be judged by but its ranking");
  EXPECT_HAS(refusal("\"ease_cpu\"", R"("target_rmse": 0.9, )"),
             "ease_cpu is for implicit feedback, which has no RMSE");
}

TEST(ImplicitCase, ATargetThatNoCaseCanMeetIsRefused) {
  const std::string rank = R"("target": {"metric": "ndcg_100", "value": 0.9}, )";
  EXPECT_EQ(refusal("\"als_cpu\"", rank),
            "$.target: ndcg_100 is not computed; add \"ranking\": true to \"evaluate\"");
  EXPECT_EQ(refusal("\"als_cpu\"", R"("evaluate": {"ranking": true}, )" + rank), "no error");
  EXPECT_HAS(refusal("\"folder\"", R"("target_rmse": 0.9, )"),
             "$.target_rmse: folder is for implicit feedback, which has no RMSE");
  EXPECT_EQ(refusal("\"folder\"", R"("target_rmse": 0.9, )" + rank), "no error")
      << "the target of any metric counts";
}

TEST(ImplicitCase, ATargetThatSomeCasesCannotMeetGetsAWarning) {
  const Spec rmse = spec_of("\"folder\", \"als_cpu\"", R"("target_rmse": 0.9, )");
  ASSERT_EQ(rmse.warnings.size(), 1u);
  EXPECT_HAS(rmse.warnings[0], "$.target_rmse: some cases cannot meet it: folder is for");
  const Spec rank =
      spec_of("\"folder\", \"als_cpu\"", R"("target": {"metric": "map_10", "value": 0.1}, )");
  ASSERT_EQ(rank.warnings.size(), 1u);
  EXPECT_HAS(rank.warnings[0], "map_10 is not computed; add");
}

TEST(ImplicitCase, ATargetOfAShareIsFrom0To1) {
  const auto with = [](const char* metric, double value) {
    return R"("target": {"metric": ")" + std::string(metric) + R"(", "value": )" +
           std::to_string(value) + "}";
  };
  EXPECT_EQ(refusal("\"folder\"", with("recall_20", 30) + ", "),
            "$.target.value: found the number 30.0, expected a number from 0 to 1");
  EXPECT_HAS(refusal("\"folder\"", "\"stop\": {" + with("map_10", 1.5) + "}, "),
             "stop.target.value: found the number 1.5, expected a number from 0 to 1");
  EXPECT_EQ(refusal("\"folder\"", with("objective", 30) + ", "), "no error");
  EXPECT_EQ(refusal("\"folder\"", with("recall_20", 1) + ", "), "no error");
}

TEST(ImplicitCase, TablesNameTheMetric) {
  const Spec spec =
      spec_of("\"folder\", \"als_cpu\"", R"("target": {"metric": "ndcg_100", "value": 0.001}, )");
  const TempFolder folder;
  run_in(folder / "a", spec);
  run_in(folder / "b", spec);
  const std::string table = summary_table(folder / "a", spec);
  EXPECT_HAS(table, "ndcg_100 0.");
  EXPECT_HAS(table, "rmse ");
  const auto all = compare_results(folder / "a", folder / "b", {}).rows;
  ASSERT_EQ(all.size(), 2u);
  for (const Comparison& one : all) {
    const bool implicit = contains(one.label, "folder");
    EXPECT_EQ(one.metric, implicit ? kNdcg100 : kTestRmse);
    EXPECT_EQ(*one.quality.value, 0) << "the same seed";
    ASSERT_EQ(one.target.has_value(), implicit);
    EXPECT_TRUE(!implicit || one.target->metric == kNdcg100);
    EXPECT_TRUE(one.answer_time.value.has_value());
  }
}

TEST(ImplicitCase, SavedModelsFoldInAUserFromAHistory) {
  Spec spec = spec_of("\"folder\", \"als_cpu\"", R"("save_model": true, )");
  const TempFolder folder;
  run_in(folder / "r", spec);
  for (const Case& item : spec.cases) {
    const SavedModel model = load_model(folder / "r/models/" + item.id);
    EXPECT_EQ(model.loss.implicit.has_value(), is_implicit(item));
    const std::vector<RowRating> history = {{5, 4}, {2, 1}};
    const ModelUser user = model.fold_in(history);
    const auto best = model.recommend(user, 10, false);
    ASSERT_EQ(best.size(), 10u);
    for (const auto& [row, score] : best) {
      EXPECT_NE(row, 5);
      EXPECT_NE(row, 2);
      EXPECT_EQ(score, model.predict(user, row));
    }
    EXPECT_HAS(message_of([&] { model.fold_in({history[0], history[0]}); }), "stands twice");
    EXPECT_EQ(model.fold_in({history[1], history[0]}).factors, user.factors) << "in any order";
  }
}

// Implicit feedback: p . q, also if a side had no training pair, unlike a mean of values.
TEST(ImplicitCase, SavedModelsPredictProducts) {
  const Spec spec = spec_of("\"folder\"", R"("save_model": true, )");
  const TempFolder folder;
  run_in(folder / "r", spec);
  const SavedModel model = load_model(folder / "r/models/" + spec.cases[0].id);
  const FactorView view = model.model.view();
  for (const std::int64_t i : {0, 3, 9}) {
    EXPECT_NEAR(model.predict(model.user(1), i), testing::dot_of(view, 1, i), 1e-5);
  }
}

// The trace's numbers are the evaluator's for the saved model.
TEST(ImplicitCase, TheTraceIsThatOfTheModel) {
  const Spec spec = spec_of("\"folder\"", R"("save_model": true, )");
  const TempFolder folder;
  run_in(folder / "r", spec);
  const Case& item = spec.cases[0];
  const SavedModel model = load_model(folder / "r/models/" + item.id);
  DataStore store;
  const CaseData data = store.get(item);
  const double expected =
      testing::dense_objective(model.model.view(), data.split->train, *model.loss.implicit);
  const double found = result_of(folder / "r", item).trace.back()["objective"];
  EXPECT_NEAR(found, expected, 1e-9 * expected);
}

TEST(ImplicitCase, EaseKeepsItsWeightsAndRanksOnTheDevice) {
  const Case item = spec_of("\"ease\"", "").cases[0];
  const ProblemShape shape{138'493, 26'744, 9'000'000};
  EXPECT_EQ(device_bytes(item, {shape, 1'000'000}) - device_bytes(item, {shape, 0}), 4e6);
  EXPECT_LT(host_bytes(item, {shape, 0}), 4.0 * 26'744 * 26'744);
}

}  // namespace
}  // namespace mf
