// One JSONL file a case: header, trace points as they happen, footer. docs/results.md has the keys.
#pragma once

#include <optional>
#include <string>

#include "base/file_lock.hpp"
#include "base/json.hpp"

namespace mf {

inline constexpr int kSchemaVersion = 1;

// Appends whole lines. A line that does not fit on the disk is taken back, so that what was written
// before stays readable.
class ResultWriter {
 public:
  explicit ResultWriter(const std::string& path);

  void append(const Json& line);
  void sync();  // to the disk itself: after the footer

 private:
  std::string path_;
  FileHandle file_;
};

// A file read back. Lines after a damaged one are not used.
struct ResultFile {
  Json header;
  std::vector<Json> trace;
  Json footer;  // null: unfinished
  bool finished() const { return footer.is_object(); }
};
std::optional<ResultFile> read_result_file(const std::string& path);

// One process at a time writes into a results folder. Throws Error(io) naming the folder and the
// cause: not creatable, not writable, or in use by another run.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);

 private:
  std::optional<FileLock> lock_;
};

// Moves an unfinished file aside to <path>.partial-N, the first N that is free. Returns its new
// name.
std::string set_aside(const std::string& path);

// Finite numbers as they are, all others as null: JSON has no NaN.
Json number_or_null(double value);

}  // namespace mf
