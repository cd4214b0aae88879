// Reads a data set from its source files: checks their hashes, parses them, resolves duplicate
// pairs and joins given parts. No cache here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datasets/ratings/dataset.hpp"
#include "datasets/ratings/rating_files.hpp"
#include "datasets/readers/columns.hpp"
#include "datasets/readers/readers.hpp"
#include "datasets/request.hpp"

namespace mf {

struct SourceFile {
  std::string path;
  std::string name;  // for messages and the combined hash: the file name
  std::string format = "auto";
  std::string sha256;  // expected, of the uncompressed content; empty: any
  Part part = kTrain;  // if several files are parts of a split
};

struct Source {
  std::string name;                     // DatasetInfo::name
  std::string kind;                     // DatasetInfo::source: "catalog" or "file"
  std::vector<SourceFile> files;        // one: the whole set; several: the parts of a given split
  std::optional<SourceFile> probe;      // netflix: lists the test part of the one file
  std::optional<LineRange> test_lines;  // of the one file: they are the test part
  std::string duplicates = "error";
  std::optional<RatingScale> scale;
  std::optional<double> unrated;
  IdKind ids = IdKind::automatic;
  ColumnNames columns;
  bool damaged_lines = false;  // which are left out
  bool times = false;          // of the ratings, of one file
};

// The source of a request in the form of files.
Source source_of_files(const DatasetRequest& request);

// How one of its files is read, by one thread.
ReadOptions read_options(const Source& source, const SourceFile& file);

// Throws Error(data): a hash that differs (both are named), malformed text, a pair in two parts.
// DatasetInfo::source_hash is combined_sha256 of the files.
Dataset read_source(const Source& source, int threads);

// A text that changes whenever the files or the options do: the key of the cache.
std::string source_key(const Source& source);

// Whether that is the key of a source with the same files and options, wherever they are and
// whenever they were written.
bool is_key_of(const std::string& key, const Source& source);

// Expected combined hash, empty if a file's hash is unknown.
std::string expected_source_hash(const Source& source);

}  // namespace mf
