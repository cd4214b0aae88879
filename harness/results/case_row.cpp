#include "harness/results/case_row.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <set>

#include "base/json/json_values.hpp"
#include "harness/experiment/frozen_targets.hpp"
#include "harness/experiment/metric_keys.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/compare/compared_case.hpp"
#include "harness/results/compare/headline.hpp"
#include "harness/results/files/fields.hpp"

namespace mf {
namespace {

bool is_of_case(const ResultField& field) {
  return field.of != FieldOf::trace && field.of != FieldOf::of_point;
}

// Null for every field, in their order.
const Json& empty_row() {
  static const Json kRow = [] {
    Json row = Json::object();
    for (const ResultField& field : result_fields()) {
      if (is_of_case(field)) row[field.column()] = nullptr;
    }
    return row;
  }();
  return kRow;
}

// Collects values under their columns; a name that is taken already stands under its whole path.
class RowBuilder {
 public:
  void add(const Json& line, const std::set<std::string>& sections) {
    for (const auto& [key, value] : line.items()) {
      if (key == "type") continue;
      if (sections.count(key) == 0) {
        add_value(key, value);
      } else if (value.is_object()) {
        for (const auto& [inner, one] : value.items()) add_value(key + "." + inner, one);
      }
    }
  }

  void set(const std::string& column, const Json& value) { row_[column] = value; }

  Json take() { return std::move(row_); }

 private:
  void add_value(const std::string& path, const Json& value) {
    const std::string column = column_of(path);
    row_[taken_.insert(column).second ? column : path] = value;
  }

  Json row_ = empty_row();
  std::set<std::string> taken_;
};

void set_place(RowBuilder& row, const std::string& path) {
  row.set("folder", std::filesystem::path(path).parent_path().filename().string());
  row.set("file", path);
}

Json question_json(const ResultFile& file, const Json& spec) {
  if (spec.is_object() && spec.contains("target_rmse")) {
    return {{"baseline", value_at(spec, {"baseline"})},
            {"target_rmse", value_at(spec, {"target_rmse"})},
            {"target", value_at(spec, {"spec", "target"})}};
  }
  const Json& asked = spec.is_object() && spec.contains("baseline") ? spec : file.header;
  return {{"baseline", value_at(asked, {"baseline"})},
          {"target_rmse", value_at(file.header, {"target_rmse"})},
          {"target", value_at(file.header, {"target"})}};
}

// The target of the case, and the time at which it was reached.
void add_target(RowBuilder& row, const ResultFile& file, const Json& spec) {
  const Json question = question_json(file, spec);
  const auto target = named_target(question);
  row.set("baseline", question["baseline"]);
  row.set("target_rmse", question["target_rmse"]);
  row.set("target", target ? to_json(*target) : Json());
  const auto place = target ? place_at(file, *target) : std::nullopt;
  if (!place) return;
  const auto answer = answer_at(file, *target);
  row.set("train_to_target_s", answer->train_s);
  row.set("answer_to_target_s", or_null(answer->answer_s));
  row.set("file_to_model_to_target_s", or_null(answer->file_to_model_s));
  row.set("energy_to_target_j", or_null(answer->energy_j));
  row.set("epoch_at_target", value_at(file.trace[*place], {"epoch"}));
  if (*place > 0) row.set("epoch_before_target", value_at(file.trace[*place - 1], {"epoch"}));
}

// Null if the run has missed it.
void add_frozen(RowBuilder& row, const ResultFile& file) {
  const auto targets = frozen_targets(text_at(file.header, {"dataset", "name"}).value_or(""),
                                      value_at(file.header, {"dataset", "split"}));
  if (!targets || value_at(file.header, {"trial"}).is_object()) return;
  Json levels = Json::object();
  for (std::size_t level = 0; level < kTargetLevels.size(); ++level) {
    const auto answer = answer_at(file, targets->at(level));
    levels[std::string(kTargetLevels[level])] = {
        {"metric", targets->metric.key()},
        {"value", targets->values[level]},
        {"chosen", targets->chosen[level].empty() ? Json() : Json(targets->chosen[level])},
        {"train_s", answer ? Json(answer->train_s) : Json()},
        {"answer_s", answer ? or_null(answer->answer_s) : Json()},
        {"file_to_model_s", answer ? or_null(answer->file_to_model_s) : Json()}};
  }
  row.set("at_frozen_targets", levels);
}

void add_quality(RowBuilder& row, const ResultFile& file) {
  const Metric metric = judged_by(file);
  if (const auto found = headline_of(file, metric)) {
    row.set("headline", found->at.value);
    row.set("headline_metric", metric.key());
    row.set("headline_epoch", found->at.epoch);
    row.set("headline_chosen_by", found->chosen_by ? found->chosen_by->key() : "last epoch");
  }
  if (const auto best = best_seen(file, metric)) {
    row.set("best_seen", best->value);
    row.set("best_seen_epoch", best->epoch);
  }
  row.set("watched_test", rules_on_test(file.header));
  if (value_at(file.header, {"ranking"}).is_object()) {
    row.set("ranked_validation", ranked_validation(file.header));
  }
}

void add_derived(RowBuilder& row, const ResultFile& file) {
  if (!file.finished()) return;
  row.set("to_training_s", or_null(to_training_s(file.footer)));
  if (const auto before = file_to_training(file)) {
    row.set("file_to_training_s", before->seconds);
    row.set("file_to_model_summed", before->summed);
  }
  if (value_at(file.footer, {"sm_clock_seen_hz"}).is_object()) {
    row.set("clock_moved", clock_moved(file.footer));
  }
}

Json quotient_json(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b && *b > 0 ? Json(*a / *b) : Json();
}

Json derived_of_point(const ResultFile& file, const Json& point, std::string_view name) {
  const auto updates = number_at(point, {"updates"});
  const auto train = number_at(point, {"train_s"});
  if (name == "iterations") {
    return quotient_json(updates, number_at(file.header, {"dataset", "n_users"}));
  }
  if (name == "updates_per_s") return quotient_json(updates, train);
  if (!train) return Json();
  const Answer answer = answer_of(file, point);
  return or_null(name == "file_to_model_s" ? answer.file_to_model_s : answer.answer_s);
}

}  // namespace

std::optional<std::string> why_no_result(const ResultFile& file) {
  const Json& header = file.header;
  if (file.damage) return file.damage;
  if (!header.is_object()) return "no header";
  if (value_at(header, {"schema_version"}).is_null()) return "a header without \"schema_version\"";
  for (const char* key : {"case_id", "case_hash"}) {
    if (!text_at(header, {key})) return fmt::format("a header without \"{}\"", key);
  }
  for (const char* key : {"algorithm", "dataset"}) {
    if (!text_at(header, {key, "name"})) return fmt::format("a header without \"{}.name\"", key);
  }
  if (!value_at(header, {"algorithm", "params"}).is_object()) {
    return "a header without \"algorithm.params\"";
  }
  if (!integer_at(header, {"seed"})) return "a header without \"seed\"";
  if (!value_at(header, {"profile"}).is_null()) return "a profiled run, whose times are no results";
  if (const auto wrong = wrong_type_in(header, FieldOf::header)) return "header: " + *wrong;
  for (const Json& point : file.trace) {
    if (const auto wrong = wrong_type_in(point, FieldOf::trace)) return "trace: " + *wrong;
  }
  if (const auto wrong = wrong_type_in(file.footer, FieldOf::footer)) return "footer: " + *wrong;
  return std::nullopt;
}

Json case_row(const ResultFile& file, const std::string& path, const Json& spec) {
  RowBuilder row;
  row.add(file.header, {"algorithm", "dataset", "environment", "work_per_epoch"});
  if (file.finished()) {
    row.add(file.footer, {"clocks"});
  } else {
    row.set("status", "unfinished");
    row.set("stop_reason", "no footer: still running, or killed");
  }
  add_target(row, file, spec);
  add_quality(row, file);
  add_frozen(row, file);
  add_derived(row, file);
  set_place(row, path);
  return row.take();
}

Json row_of_none(const std::string& path, const std::string& status) {
  RowBuilder row;
  row.set("case_id", std::filesystem::path(path).stem().string());
  row.set("status", status);
  set_place(row, path);
  return row.take();
}

Json point_columns(const ResultFile& file) {
  Json columns = Json::object();
  for (const ResultField& field : result_fields()) {
    if (is_of_case(field)) continue;
    Json& values = columns[std::string(field.path)] = Json::array();
    const std::string key(field.path);
    for (const Json& point : file.trace) {
      values.push_back(field.of == FieldOf::trace ? value_at(point, {key.c_str()})
                                                  : derived_of_point(file, point, field.path));
    }
  }
  // Keys of other versions.
  for (std::size_t i = 0; i < file.trace.size(); ++i) {
    for (const auto& [key, value] : file.trace[i].items()) {
      if (key == "type") continue;
      Json& values = columns[key];
      if (values.is_null()) values = std::vector<Json>(file.trace.size());
      values[i] = value;
    }
  }
  return columns;
}

}  // namespace mf
