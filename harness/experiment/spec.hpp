// A spec: what to run. Every case is a self-contained, hashable item; all are checked before the
// first runs. docs/spec.md describes the keys.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "base/json/json.hpp"
#include "datasets/request.hpp"
#include "datasets/split/split.hpp"
#include "harness/experiment/metric.hpp"
#include "harness/experiment/schedule.hpp"
#include "harness/experiment/status.hpp"
#include "harness/experiment/stopping.hpp"
#include "harness/experiment/tune.hpp"

namespace mf {

struct StartSpec : InitSpec {
  std::string model;  // folder of a saved one to start from; empty: first factors are made
};

struct EvaluateSpec {
  std::int64_t every = 1;  // epochs between evaluations; the last epoch is always evaluated
  bool train = false;      // also the train RMSE
  bool clip = false;       // predictions to the rating scale
  // Groups of users, by id, whose RMSE is in the footer; 0: none.
  std::int64_t user_groups = 0;
  // Ranking metrics: on for implicit feedback and off for explicit ratings where the spec does not
  // say. For a case: whether they are computed, and for whom.
  std::optional<bool> rank;
  RankingSpec ranking;
  // Beside what every case is measured by. For a case: with those that its spec's target and search
  // name.
  std::vector<Metric> metrics;

  Json to_json() const;
};

// Why a case that was to be tuned has no parameters, and how it ends for it.
struct Unresolved {
  Status status = Status::error;
  std::string reason;
};

struct Case {
  std::string id;         // that of its file: readable, ends in the first 10 digits of hash
  std::string title;      // what tells it from the others, for people: "als_cpu s2 factors=16"
  std::string name;       // "als_cpu factors=16": with what differs among cases of the algorithm
  std::string data_name;  // "ml-100k holdout=0.2": with what differs among splits of the data set
  std::string hash;       // SHA-256 of `resolved`
  Json resolved;          // everything that decides the result
  std::string path;       // JSON path of its algorithm entry, for messages
  std::string data_path;  // that of its data set

  DatasetRequest data;
  SplitSpec split;
  std::string algorithm;
  Params params;
  ScheduleSpec schedule;
  StartSpec init;
  StopSpec stop;
  EvaluateSpec evaluate;
  std::uint64_t seed = 1;

  // Its parameters come from this study of the spec and are not known yet.
  std::optional<std::size_t> study;
  std::optional<Unresolved> unresolved;  // of such a case whose study has chosen nothing
  Json tuned;  // what a study has chosen, for the header; null for other cases
  // For a trial {"study", "number", "epochs", ...}, for the header. A trial is judged by the
  // validation part, and never sees the test part.
  Json trial;
};

inline bool is_trial(const Case& item) { return !item.trial.is_null(); }

// A search for the parameters of one configuration on one data set.
struct StudyPlan {
  std::string name;   // of its folder: readable, ends in the first 10 digits of its hash
  std::string label;  // "sgd_serial factors=8 on ml-1m"
  std::string path;   // JSON path of its "tune", for messages
  TuneSpec tune;
  Metric metric = kValidationRmse;  // ranking metrics are of the validation part, too
  std::vector<std::int64_t> rungs;  // epochs of each, rising
  std::vector<Json> points;         // values of the trials, in the order of their draws

  std::int64_t trials() const { return std::ssize(points); }
  std::int64_t runs() const { return count_runs(trials(), tune.eta, rungs.size()); }
};

struct Study : StudyPlan {
  Case base;  // of the first seed, with defaults for what is searched
  // The case of a point with a seed; throws Error(usage) as read_spec() does.
  std::function<Case(const Json& values, std::uint64_t seed)> make;
};

// Its algorithm is one for implicit feedback.
bool is_implicit(const Case& item);
// It scores users by their histories: it has no factors.
bool is_by_history(const Case& item);
// It minimizes the objective of implicit feedback (algorithms/core/implicit.hpp). An algorithm for
// implicit feedback that does not is judged by its ranking only.
bool has_objective(const Case& item);
// Its epochs are draws, whose predictions are averaged.
bool is_sampler(const Case& item);
// There is a P and a Q to be saved.
bool has_model(const Case& item);
// The rules in force that watch a metric: of the schedule and the plateau.
struct WatchingRule {
  std::string name;  // "stop.plateau"
  Metric monitor;
};
std::vector<WatchingRule> watching_rules(const Case& item);
// The names of those by which the test part chooses what is measured on it.
std::vector<std::string> rules_on_test(const Case& item);
// Metrics that the spec names: those and the ones of targets and of `evaluate`.
std::vector<Metric> named_metrics(const Case& item);
// With the usual metrics and those that are named; where there is a validation part, also with the
// main one on that, by which an epoch can be chosen.
RankingSpec ranking_of(const Case& item);
bool ranks_validation(const Case& item);  // whether metrics of the validation part are among them
// The metric that must not diverge: the RMSE of the part that the case is judged on, or the
// objective. If there is neither, it is NDCG@100, which must be a number.
Metric error_metric(const Case& item);
// The metric that judges a model of the case first: test RMSE. For implicit feedback it is
// NDCG@100, or the objective if nothing is ranked.
Metric main_metric(const Case& item);
bool has_validation(const Case& item);  // whether it has a validation part

struct Spec {
  std::string name;
  std::string description;
  std::string hash;      // SHA-256 of the spec's JSON
  std::string baseline;  // algorithm name, or empty
  std::optional<double> target_rmse;
  std::optional<TargetSpec> target;
  bool save_model = false;
  Json source;                        // as read
  std::vector<Case> cases;            // seeds round-robin: all cases of the first seed first
  std::vector<Study> studies;         // what decides the cases that are tuned
  std::vector<std::string> warnings;  // for the user; the spec is valid
};

// The numbers of the cases whose id or hash begins with `text`. Throws Error(usage) without one.
std::set<std::size_t> cases_named(const std::string& text, const std::vector<Case>& cases);

// The target of the spec, as results have it: the one with a metric goes first.
std::optional<TargetSpec> target_of(const Spec& spec);

// For the results of a spec by its name: always below the folder of all results, and never that of
// another name, though some letters cannot be in it.
std::string folder_name(const std::string& name);

// Reads, expands and checks. Throws Error(usage) with file and JSON path.
Spec read_spec(const std::string& path);
Spec parse_spec(const Json& json, const std::string& name_for_messages);

// The cross product over every list found where a scalar is expected, in the order of the keys.
// `path` is the object's, for messages.
std::vector<Json> expand_sweeps(const Json& object, const std::string& path = "$");

// JSON Schema (draft 2020-12) of a spec, from the tables that read it.
Json spec_schema();

// Resolved init; "normal" for biased, "uniform" for plain unless given.
Json to_json(const StartSpec& init);

}  // namespace mf
