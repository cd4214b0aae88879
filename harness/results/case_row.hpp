// A result as a row of a table of cases and as rows of one of trace points: the fields of its file
// and derived ones, under the columns of fields.hpp.
#pragma once

#include <optional>
#include <string>

#include "base/json/json_fwd.hpp"
#include "harness/results/files/result_file.hpp"

namespace mf {

// Why the file is not a result, for a message; empty if it is one. A file may be without its
// footer.
std::optional<std::string> why_no_result(const ResultFile& file);

// A value or null for every field of a case, then other keys of header and footer; keys of objects
// stay inside of them. `spec`: spec.json of the folder, or null: its baseline and target override
// the header's, since an edit of them touches no finished case.
Json case_row(const ResultFile& file, const std::string& path, const Json& spec);

// The same of a case that has not begun.
Json row_of_none(const std::string& path, const std::string& status);

// {"epoch": [0, 1, ...], ...}: every field of a trace point, then other keys of the points.
Json point_columns(const ResultFile& file);

}  // namespace mf
