#include "harness/results/files/fields.hpp"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "base/json/form.hpp"
#include "harness/experiment/metric.hpp"

namespace mf {

extern const std::string kFieldsJson;  // fields.json, embedded by the build

namespace {

// Sections of the lines, and the prefixes of their keys in tables.
constexpr auto kSections =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"algorithm.", ""},
                                                                  {"dataset.", ""},
                                                                  {"environment.", ""},
                                                                  {"work_per_epoch.", "work_"},
                                                                  {"clocks.", "clock_"}});

constexpr auto kUnits =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"_per_s", "1/s"},
                                                                  {"_s", "s"},
                                                                  {"_bytes", "bytes"},
                                                                  {"_hz", "Hz"},
                                                                  {"_w", "W"},
                                                                  {"_j", "J"},
                                                                  {"_c", "degrees Celsius"},
                                                                  {"_rmse", "of the ratings"},
                                                                  {"_mae", "of the ratings"}});

// Stands in the place of a missing section.
const Json* find_path(const Json& line, std::string_view path) {
  const auto dot = path.find('.');
  if (!line.is_object()) return &line;
  const auto at = line.find(std::string(path.substr(0, dot)));
  if (at == line.end()) return nullptr;
  return dot == std::string_view::npos ? &*at : find_path(*at, path.substr(dot + 1));
}

bool fits_type(const Json& value, FieldType type) {
  switch (type) {
    case FieldType::text:
      return value.is_string();
    case FieldType::whole:
      return value.is_number_integer();
    case FieldType::number:
      return value.is_number();
    case FieldType::truth:
      return value.is_boolean();
    case FieldType::list:
      return value.is_array();
    case FieldType::object:
      return value.is_object();
  }
  return false;
}

Form<ResultField> field_form() {
  return Form<ResultField>()
      .choice("of", &ResultField::of, kFieldOf, "")
      .required()
      .name("name", &ResultField::path, "")
      .choice("type", &ResultField::type, kFieldTypes, "")
      .required()
      .text("help", &ResultField::help, "");
}

std::vector<ResultField> read_fields() {
  struct File {
    std::vector<ResultField> fields;
  };
  const auto form =
      Form<File>().list("fields", &File::fields, field_form(), "").required().remark("about");
  const std::string name = "fields.json";
  auto all = form.parse(parse_json(kFieldsJson, name), name + ":$").fields;
  // A ranking metric of another k than every ranked case has stands behind these.
  for (const Metric metric : usual_metrics()) {
    all.push_back({FieldOf::trace, metric.key(), FieldType::number, metric.title()});
  }
  return all;
}

std::string_view unit_of(std::string_view path) {
  for (const auto& [end, unit] : kUnits) {
    if (path.ends_with(end)) return unit;
  }
  return "";
}

}  // namespace

const std::vector<ResultField>& result_fields() {
  static const auto kFields = read_fields();
  return kFields;
}

std::string column_of(std::string_view path) {
  if (path == "algorithm.name" || path == "dataset.name") {
    return std::string(path.substr(0, path.find('.')));
  }
  for (const auto& [section, prefix] : kSections) {
    if (path.starts_with(section)) {
      return std::string(prefix) + std::string(path.substr(section.size()));
    }
  }
  return std::string(path);
}

std::string ResultField::column() const { return column_of(path); }

std::optional<std::string> wrong_type_in(const Json& line, FieldOf of) {
  for (const ResultField& field : result_fields()) {
    if (field.of != of) continue;
    const Json* value = find_path(line, field.path);
    if (value == nullptr || value->is_null() || fits_type(*value, field.type)) continue;
    return fmt::format("{}: found {}, expected {}", field.path, describe(*value),
                       kFieldTypes.of(field.type));
  }
  return std::nullopt;
}

Json result_fields_json() {
  Json all = Json::array();
  for (const ResultField& field : result_fields()) {
    all.push_back({{"name", field.path},
                   {"column", field.column()},
                   {"of", kFieldOf.of(field.of)},
                   {"type", kFieldTypes.of(field.type)},
                   {"unit", unit_of(field.path)},
                   {"help", field.help}});
  }
  return all;
}

}  // namespace mf
