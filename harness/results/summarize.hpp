// Result files as one table of cases and one of trace points, with derived values: lines of JSON
// for figures and pages, comma-separated values for other programs.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/json/json_fwd.hpp"

namespace mf {

struct SummarizeOptions {
  std::vector<std::string> paths;  // folders, also with folders of results in them, or files
  bool unlisted = false;           // also the cases that their folder's spec.json does not list
  bool with_lines = false;         // JSON: each case with the lines of its file, too
};

struct Summarized {
  std::size_t cases = 0, case_columns = 0;
  std::size_t points = 0, trace_columns = 0;
  int left_out = 0;   // damaged or foreign files, each named on standard error
  int not_begun = 0;  // listed in a spec.json without a file, or without a header; named as well
  int unlisted = 0;   // of `unlisted`, if they are not asked for
};

// An object a line, written while files are read: {"type": "case", column: value, ..., "trace":
// {column: [values]}}, also of cases that have not begun, and {"type": "left_out", "folder",
// "why"}. Throws Error(usage) if a path is neither folder nor result file.
Summarized summarize_as_json(const SummarizeOptions& options, std::ostream& out);

// Writes both files whole or not at all; objects have a column for each of their keys. Throws as
// the other if there is no result, and Error(io) if a table cannot be written.
Summarized summarize_as_csv(const SummarizeOptions& options, const std::string& cases,
                            const std::string& trace);

// A value as comma-separated text (RFC 4180): a number in as many digits as give it back, true or
// false, text in quotes if it needs them; empty for null. Lists are JSON in quotes.
std::string csv_cell(const Json& value);

}  // namespace mf
