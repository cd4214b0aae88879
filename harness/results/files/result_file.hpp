// One JSONL file a case: header, trace points as they happen, footer. docs/results.md has the keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files/files.hpp"
#include "base/json/json.hpp"
#include "harness/experiment/metric.hpp"
#include "harness/experiment/status.hpp"

namespace mf {

inline constexpr int kSchemaVersion = 1;
// "found schema_version 2, ..." of a header, a spec.json or a study.json that this program does not
// know; empty if it does, or if there is no version.
std::optional<std::string> why_unknown_version(const Json& json);

// Appends whole lines to a new file. A line that does not fit on the disk is taken back, so that
// earlier lines stay readable.
class ResultWriter {
 public:
  explicit ResultWriter(const std::string& path);

  void append(const Json& line);
  // After the last line; `on_disk`: returns when the disk itself has the file, which takes
  // milliseconds. Throws Error(io) if the system now reports that it could not keep a line.
  void end(bool on_disk);

 private:
  std::string path_;
  FileHandle file_;
};

// A file read back. Every line has the keys that its type cannot be read without; lines from a
// damaged one on are not used, and neither is a last line without its end, which a killed run
// leaves behind.
struct ResultFile {
  Json header;  // null: not written yet
  std::vector<Json> trace;
  Json footer;                        // null: unfinished; by today's rules (result_file.cpp)
  std::optional<std::string> damage;  // "<path>: line 3: found ..., expected ..."
  bool finished() const { return header.is_object() && footer.is_object(); }
  std::optional<Status> status() const;  // nothing: unfinished
};

// The lines of one, taken one after the other.
class CaseLines {
 public:
  explicit CaseLines(std::string path) : path_(std::move(path)) {}  // the name for errors

  // `json`: the parsed text. From the first damaged line on, lines are not used.
  void add(const std::string& text, Json json, std::int64_t number);

  const ResultFile& file() const { return file_; }
  ResultFile take() { return std::move(file_); }

 private:
  std::string path_;
  ResultFile file_;
};

// The value of a metric after the last epoch, by a footer; empty if it was not computed.
std::optional<double> final_of(const Json& footer, Metric metric);

// Empty if there is no such file. Never throws for its content.
std::optional<ResultFile> read_result_file(const std::string& path);

// If the file is damaged, says on standard error at which line, and the consequence.
void warn_of_damage(const ResultFile& file, const std::string& consequence);

// Moves an unfinished file aside to <path>.partial-N, the first N that is free. Returns its new
// name.
std::string set_aside(const std::string& path);

}  // namespace mf
