// Result files as two tables of comma-separated values, for other programs.
#pragma once

#include <string>
#include <vector>

namespace mf {

struct ExportOptions {
  std::vector<std::string> paths;  // folders, also with folders of results in them, or files
  std::string cases;               // CSV, one row a case
  std::string trace;               // CSV, one row a trace point
  bool unlisted = false;           // also the cases that their folder's spec.json does not list
};

struct ExportSummary {
  std::size_t cases = 0, case_columns = 0;
  std::size_t points = 0, trace_columns = 0;
  int left_out = 0;   // damaged or foreign files, each named on standard error
  int not_begun = 0;  // listed in a spec.json without a file, or without a header; named as well
  int unlisted = 0;   // of `unlisted`, where they are not asked for
};

// Writes both files whole or not at all. Throws Error(usage) where a path is neither folder nor
// result file or where there is no result, Error(io) where a table cannot be written.
ExportSummary export_results(const ExportOptions& options);

}  // namespace mf
