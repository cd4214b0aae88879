// A result as a row of a table of cases and as rows of one of trace points: what its file says, and
// what follows from that, under the columns of fields.hpp.
#pragma once

#include <optional>
#include <string>

#include "base/json/json_fwd.hpp"
#include "harness/results/files/result_file.hpp"

namespace mf {

// What the file lacks of a result, for a message; nothing where it is one. A file may be without
// its footer.
std::optional<std::string> why_no_result(const ResultFile& file);

// A value or null for every field of a case, then what else header and footer say; keys of objects
// stay inside of them. `spec`: spec.json of the folder, or null: its baseline and target go before
// those of the header, since an edit of them touches no finished case.
Json case_row(const ResultFile& file, const std::string& path, const Json& spec);

// The same of a case that has not begun.
Json row_of_none(const std::string& path, const std::string& status);

// {"epoch": [0, 1, ...], ...}: every field of a trace point, then what else the points say.
Json point_columns(const ResultFile& file);

}  // namespace mf
