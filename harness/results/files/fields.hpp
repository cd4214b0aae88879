// Every field of a result, in a row of fields.json each: the fields of its file and derived ones.
// The columns of tables, the checks of files, and docs/reference/results.md come from here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_fwd.hpp"
#include "base/json/names.hpp"

namespace mf {

// A line of the file, or a computed row: of a case, or of a trace point.
enum class FieldOf { header, trace, footer, of_case, of_point };
inline constexpr Names kFieldOf{
    std::to_array<Named<FieldOf>>({{"header", FieldOf::header},
                                   {"trace", FieldOf::trace},
                                   {"footer", FieldOf::footer},
                                   {"derived, of a case", FieldOf::of_case},
                                   {"derived, of a trace point", FieldOf::of_point}})};

enum class FieldType { text, whole, number, truth, list, object };
inline constexpr Names kFieldTypes{
    std::to_array<Named<FieldType>>({{"text", FieldType::text},
                                     {"a whole number", FieldType::whole},
                                     {"a number", FieldType::number},
                                     {"true or false", FieldType::truth},
                                     {"a list", FieldType::list},
                                     {"an object", FieldType::object}})};

struct ResultField {
  FieldOf of = FieldOf::header;
  std::string path;  // keys of the line with dots between them
  FieldType type = FieldType::text;
  std::string help;

  // In tables: sections that need no name of their own (algorithm, data set, environment) are left
  // out, "work_per_epoch." becomes "work_" and "clocks." "clock_".
  std::string column() const;
};

// In the order of the columns: the rows of fields.json, then one for each metric.
const std::vector<ResultField>& result_fields();

// The column name for a key of a header or footer.
std::string column_of(std::string_view path);

// "seed: found \"x\", expected a whole number" of the first field of a line that is neither of its
// type nor null; empty if all are.
std::optional<std::string> wrong_type_in(const Json& line, FieldOf of);

// The table, for the documents: {"name", "column", "of", "type", "unit", "help"} each.
Json result_fields_json();

}  // namespace mf
