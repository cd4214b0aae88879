// The columns of exported results. docs/results.md lists them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/results/csv.hpp"
#include "harness/results/result_file.hpp"

namespace mf {

// Columns that the tables have whatever the cases are, in their order.
const std::vector<std::string>& case_columns();
const std::vector<std::string>& trace_columns();

// What the file lacks of a result that can be exported, for a message; nothing where it is one. A
// file may be without its footer.
std::optional<std::string> why_no_result(const ResultFile& file);

// Everything that header and footer say, by their keys joined by dots, with the sections that need
// no name of their own (algorithm, data set, environment) flattened. `number` is the case's, from
// 0.
Cells case_cells(const ResultFile& file, const std::string& path, std::int64_t number);

// One trace point of it, with what names the case and the answer time.
Cells trace_cells(const ResultFile& file, const Json& point, std::int64_t number);

// Whether the column is a parameter: of algorithm, schedule, initial factors, stop, evaluation or
// split.
bool is_parameter(const std::string& column);

// The columns beyond those that are always there, parameters first.
bool column_before(const std::string& a, const std::string& b);

}  // namespace mf
