// Text and binary readers of rating files. Files are memory-mapped, or decompressed into memory,
// and parsed in parallel with std::from_chars; the result is in file order and does not
// depend on the number of threads. Malformed input throws Error(data): "file:line:column: found
// ..., expected ...".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files/mapped_file.hpp"
#include "datasets/ratings/dataset.hpp"
#include "datasets/ratings/ratings.hpp"
#include "datasets/readers/columns.hpp"

namespace mf {

struct ReadOptions {
  std::string format = "auto";         // one of reader_formats()
  std::optional<RatingScale> scale;    // a rating outside is an error
  std::optional<double> unrated = {};  // the value of lines that are no ratings and are left out
  int threads = 1;
  ColumnNames columns = {};        // of a header
  IdKind ids = IdKind::automatic;  // text: for formats that may have names (docs/spec.md)
  bool times = false;              // of the ratings; Error(data) if the file has none
  // Leaves out lines that are not ratings, and counts them in a warning: for a file known to have
  // some. Not for files in groups (netflix, kddcup).
  bool leave_out_damaged = false;
  // If given, it gets the content of a file (no folder) before it is parsed: decompressed, of a zip
  // archive the archive.
  std::function<void(const Bytes&)> on_content = nullptr;
};

struct ReaderFormat {
  std::string name;  // "csv"
  std::string help;  // what a line looks like, in Markdown
  bool text_ids = false;
};
const std::vector<ReaderFormat>& reader_formats();

// Reads one file (or, for netflix a folder of mv_*.txt files, for npy a folder of users.npy,
// items.npy, ratings.npy). `auto` decides by extension and the first lines, else throws an error
// that lists the evidence.
RawRatings read_ratings(const std::string& path, const ReadOptions& options);

struct FirstLook {
  std::string format;  // the format that read_ratings would use
  RawRatings ratings;  // of the first thousand lines, if each line of the format stands for itself
  std::string columns = {};  // of them, what was taken for what
};
// Throws Error(data) if the file is missing, its format is not recognised, these lines are wrong or
// an npz lacks an array.
FirstLook look_at_ratings(const std::string& path, const ReadOptions& options);

// Netflix Prize: labels the (item, user) pairs that probe.txt lists as kTest, all others kTrain.
// A pair of the probe file that is not among the ratings is an error.
AlignedVector<std::uint8_t> netflix_probe_parts(const Ratings& ratings,
                                                const std::string& probe_path, int threads);

}  // namespace mf
