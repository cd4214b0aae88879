#include "harness/results/files/case_json.hpp"

#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/registry.hpp"
#include "base/hash.hpp"
#include "base/host/cpus.hpp"
#include "base/json/json_values.hpp"
#include "harness/device/environment.hpp"
#include "harness/experiment/metric_keys.hpp"
#include "harness/results/files/load_json.hpp"
#include "harness/results/files/result_file.hpp"

namespace mf {
namespace {

Json dataset_json(const CaseData& data, const Case& item) {
  const DatasetInfo& info = *data.info;
  const Split& split = *data.split;
  Json scale;
  if (info.scale) {
    scale = {{"min", info.scale->min}, {"max", info.scale->max}, {"step", info.scale->step}};
  }
  Json json = {{"name", item.data.label()},
               {"look_alike", info.look_alike},
               {"source", info.source},
               {"source_sha256", info.source_hash.empty() ? Json() : Json(info.source_hash)},
               {"content_hash", hash64_text(info.content_hash)},
               {"n_users", split.train.n_users()},
               {"n_items", split.train.n_items()},
               {"nnz_train", data.sizes.train},
               {"nnz_test", data.sizes.test},
               {"nnz_validation", data.sizes.validation},
               {"split", item.split.to_json()},
               {"cold_users", split.cold_users},
               {"cold_items", split.cold_items},
               {"cold_ratings", split.cold_ratings},
               {"duplicate_pairs", info.duplicate_pairs},
               {"duplicate_policy", info.duplicate_policy},
               {"scale", scale}};
  if (item.split.kind == SplitSpec::Kind::users) json["nnz_fold_in"] = data.sizes.fold_in;
  if (split.test_from) json["test_from"] = *split.test_from;
  if (split.validation_from) json["validation_from"] = *split.validation_from;
  if (info.implicit) json["implicit"] = info.implicit->to_json();
  return json;
}

Json rank_data_json(const RankData& ranks) {
  return {{"held", ranks.slices ? "share" : "whole"},
          {"why", ranks.why.empty() ? Json() : Json(ranks.why)},
          {"read", ranks.slices && !ranks.read_whole ? "share" : "whole"},
          {"evaluated_by", ranks.all_evaluate ? "all" : "rank 0"}};
}

Json algorithm_json(const Case& item) {
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  return {{"name", info.name},
          {"family", info.family},
          {"method", kMethods.of(info.method)},
          {"hardware", info.hardware == Hardware::cuda ? "cuda" : "cpu"},
          {"deterministic", info.deterministic},
          {"paper", info.paper},
          {"plugin", info.origin.empty() ? Json() : Json(info.origin)},
          {"params", item.params.to_json()}};
}

Json bytes_or_null(const std::optional<double>& bytes) {
  return bytes ? Json(static_cast<std::int64_t>(*bytes)) : Json();
}

Json seen_json(const CaseMeasures& measures, std::optional<double> DeviceReading::*number) {
  return mf::seen_json(measures.readings, measures.after, number);
}

}  // namespace

Json header_json(const Spec& spec, const Case& item, const CaseData& data,
                 const HeaderFacts& facts) {
  const Work& work = facts.work;
  Json header = {
      {"type", "header"},
      {"schema_version", kSchemaVersion},
      {"case_id", item.id},
      {"case_hash", item.hash},
      {"spec_name", spec.name},
      {"spec_hash", spec.hash},
      {"algorithm", algorithm_json(item)},
      {"dataset", data.split ? dataset_json(data, item) : Json{{"name", item.data.label()}}},
      {"seed", item.seed},
      {"baseline", spec.baseline.empty() ? Json() : Json(spec.baseline)},
      {"target_rmse", or_null(spec.target_rmse)},
      {"schedule", item.schedule.to_json()},
      {"init", to_json(item.init)},
      {"stop", item.stop.to_json()},
      {"evaluate", item.evaluate.to_json()},
      {"profile", facts.profile ? facts.profile->to_json() : Json()},
      {"work_per_epoch", {{"updates", work.updates}, {"bytes", work.bytes}, {"flops", work.flops}}},
      {"facts", facts.facts},
      {"placement", facts.placement},
      {"environment", facts.environment}};
  if (data.split && ranks_of(item.params) > 1) header["rank_data"] = rank_data_json(data.ranks);
  if (!item.tuned.is_null()) header["tuned"] = item.tuned;
  if (is_trial(item)) header["trial"] = item.trial;
  if (spec.target) header["target"] = to_json(*spec.target);
  if (!facts.loss.is_null()) header["loss"] = facts.loss;
  if (!facts.ranking.is_null()) header["ranking"] = facts.ranking;
  return header;
}

Json seen_json(const std::vector<DeviceReading>& within, const std::vector<DeviceReading>& after,
               std::optional<double> DeviceReading::*number) {
  std::vector<double> seen;
  const auto add = [&](const std::vector<DeviceReading>& readings) {
    for (const DeviceReading& one : readings) {
      if (one.*number) seen.push_back(*(one.*number));
    }
    return seen.size();
  };
  const std::size_t in_epochs = add(within);
  if (add(after) == 0) return nullptr;
  Json json = spread_json(seen);
  json["samples"] = seen.size();
  json["in_epochs"] = in_epochs;
  return json;
}

Json placement_json() {
  const std::string memory = memory_policy();
  return {{"memory", memory.empty() ? Json() : Json(memory)},
          {"cpus", Json::array({cpu_list_text(usable_cpus())})}};
}

void set_metrics(Json& json, const CaseResult& result) {
  const auto& all = result.metrics;
  const bool of_trial = all.count(kTestRmse) == 0 && all.count(kValidationRmse) > 0;
  const Metric rmse = of_trial ? kValidationRmse : kTestRmse;
  json["final_" + rmse.key()] = nullptr;
  json["best_" + rmse.key()] = nullptr;
  for (const auto& [metric, summary] : all) {
    if (metric == rmse) {
      json["final_" + rmse.key()] = number_or_null(summary.final_value);
      json["best_" + rmse.key()] = number_or_null(summary.best);
      continue;
    }
    json["metrics"][metric.key()] = {{"final", number_or_null(summary.final_value)},
                                     {"best", number_or_null(summary.best)},
                                     {"best_epoch", summary.best_epoch}};
  }
}

Json footer_json(const CaseResult& result, const CaseMeasures& measures, const Ranges& ranges) {
  const CaseClocks clocks = clocks_of(ranges, result.train_s);
  Json footer = {
      {"type", "footer"},
      {"status", kStatuses.of(result.status)},
      {"stop_reason", result.reason},
      {"epochs", result.epochs},
      {"updates", result.updates},
      {"clocks",
       {{"start_s", clocks.start_s},
        {"load_s", clocks.load_s},
        {"prepare_s", clocks.prepare_s},
        {"transfer_s", clocks.transfer_s},
        {"train_s", clocks.train_s},
        {"train_device_s", or_null(measures.train_device_s)},
        {"evaluate_s", clocks.evaluate_s},
        {"save_s", clocks.save_s},
        {"rest_s", result.wall_s - clocks.sum() + clocks.overlap_s(result.wall_s)},
        {"wall_s", result.wall_s}}},
      {"overlap_s", clocks.overlap_s(result.wall_s)},
      {"file_to_model_s", or_null(measures.file_to_model_s)},
      {"shared", to_json(measures.shared)},
      {"load_parts",
       {{"read_s", measures.load_parts.read},
        {"matrix_s", measures.load_parts.matrix},
        {"hash_s", measures.load_parts.hash},
        {"cache_s", measures.load_parts.cache},
        {"split_s", measures.split_s}}},
      {"from_cache", or_null(measures.from_cache)},
      {"phases", ranges.to_json()},
      {"final_test_rmse", nullptr},
      {"best_test_rmse", nullptr},
      {"best_epoch", result.best_epoch},
      {"trivial_error", number_or_null(measures.trivial_error)},
      {"planned_host_bytes", bytes_or_null(measures.planned_host_bytes)},
      {"planned_device_bytes", bytes_or_null(measures.planned_device_bytes)},
      {"peak_host_bytes", peak_memory_bytes()},
      {"peak_device_bytes", or_null(measures.peak_device_bytes)},
      {"first_epoch_s", or_null(measures.epochs.first_s)},
      {"steady_epoch_s", or_null(measures.epochs.steady_s)},
      {"train_energy_j", or_null(measures.train_energy_j)},
      {"sm_clock_seen_hz", seen_json(measures, &DeviceReading::sm_clock_hz)},
      {"power_seen_w", seen_json(measures, &DeviceReading::power_w)},
      {"temperature_seen_c", seen_json(measures, &DeviceReading::temperature_c)},
      {"host_load", host_load_json(measures.prepare_host_load, measures.train_host_load)},
      {"device_load", device_load_json(measures.device_load)}};
  set_metrics(footer, result);
  set_contention(footer, result.contention);
  footer["finished_at"] = utc_now();
  for (const auto& one : measures.energy_of_ranks)
    footer["train_energy_of_ranks_j"].push_back(or_null(one));
  if (!measures.ranks.is_null()) footer["ranks"] = measures.ranks;
  if (!measures.exchanged.is_null()) footer["exchanged"] = measures.exchanged;
  if (!measures.peer.is_null()) footer["peer"] = measures.peer;
  for (const auto& [metric, value] : measures.cold_ranking)
    footer["cold_ranking"][metric.key()] = number_or_null(value);
  if (result.files_mark) footer["bad_data_mark"] = *result.files_mark;
  if (result.unsaved_model) footer["unsaved_model"] = true;
  if (measures.tied_users) footer["tied_users"] = *measures.tied_users;
  if (!result.warnings.empty()) footer["warnings"] = result.warnings;
  if (!measures.user_groups.empty()) footer["user_groups"] = to_json(measures.user_groups);
  return footer;
}

void TracePoint::set_errors(MetricPart part, const Accuracy& errors) {
  if (errors.count == 0 && part != MetricPart::test) return;
  for (const Metric one : usual_metrics()) {
    if (one->part != part) continue;
    if (one->measure == Measure::rmse) metrics.set(one, errors.rmse);
    if (one->measure == Measure::mae) metrics.set(one, errors.mae);
  }
}

Json TracePoint::to_json() const {
  Json json = {{"type", "trace"},
               {"epoch", epoch},
               {"updates", updates},
               {"passes", passes},
               {"train_s", train_s},
               {"train_device_s", or_null(train_device_s)},
               {"train_energy_j", or_null(train_energy_j)},
               {"epoch_s", epoch_s},
               {"evaluate_s", evaluate_s},
               {"wall_s", wall_s}};
  for (const MetricRow& row : kMetricRows) {
    if (row.every_line) json[std::string(row.name)] = nullptr;
  }
  json["learning_rate"] = number_or_null(learning_rate);
  for (const auto& [metric, value] : metrics) json[metric.key()] = number_or_null(value);
  if (by_program) json["evaluated_by"] = "program";
  return json;
}

}  // namespace mf
