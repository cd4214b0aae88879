// Internal: one function per format of readers.hpp, and the choice between them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "datasets/readers/fields.hpp"
#include "datasets/readers/line_parser.hpp"
#include "datasets/readers/readers.hpp"
#include "datasets/readers/text_source.hpp"

namespace mf {

RawRatings read_movielens_tab(const Text& text, const ScaleCheck& scale,
                              const ParseOptions& options);
RawRatings read_double_colon(const Text& text, const ScaleCheck& scale,
                             const ParseOptions& options);
RawRatings read_triples(const Text& text, const ScaleCheck& scale, const ParseOptions& options);
RawRatings read_pairs(const Text& text, const ScaleCheck& scale, const ParseOptions& options);
RawRatings read_lists(const Text& text, const ScaleCheck& scale, const ParseOptions& options);
RawRatings read_json_lines(const Text& text, const ScaleCheck& scale, const ParseOptions& options);
RawRatings read_csv(const Text& text, const ScaleCheck& scale, const ParseOptions& options);
// The same as observed pairs, of the value 1: a rating is skipped.
RawRatings read_csv_pairs(const Text& text, const ScaleCheck& scale, const ParseOptions& options);
RawRatings read_netflix(const Text& text, const ScaleCheck& scale, const ParseOptions& options);
RawRatings read_kddcup(const Text& text, const ScaleCheck& scale, const ParseOptions& options);
RawRatings read_matrix_market(const Text& text, const ScaleCheck& scale,
                              const ParseOptions& options);
RawRatings read_netflix_folder(const std::string& folder, const ScaleCheck& scale,
                               const ParseOptions& options);
RawRatings read_npz(const std::string& path, const Bytes& archive, const ScaleCheck& scale,
                    const ParseOptions& options);
// Throws Error(data) if an array is missing.
void check_npz(const std::string& path, const Bytes& archive);
RawRatings read_npy_folder(const std::string& folder, const ScaleCheck& scale,
                           const ParseOptions& options);

// The files mv_*.txt of a folder, or else its combined_data_*.txt, in order of their names
// (compressed ones too); empty if it has neither.
std::vector<std::string> netflix_files(const std::string& folder);

// The three files of an npy folder or of an npz archive.
inline constexpr std::array<const char*, 3> kNumpyFiles = {"users.npy", "items.npy", "ratings.npy"};
inline constexpr const char* kNumpyTimes = "times.npy";  // may stand beside them

// For the first line of a csv text, which ends in '\n': whether it names a user and an item, or has
// the values of a user, an item and perhaps a rating and a time.
inline constexpr const char* kCsvSeparators = ",;\t|";
bool is_csv_header(const std::string& line, const ColumnNames& names);
bool is_csv_values(const std::string& line, bool pairs = false);
// Throws Error(data) if a scale is declared that lacks 1, the value of pairs.
void check_pairs(const std::string& path, const ScaleCheck& scale);

// Passes over blank lines, comments and Excel's sep=; before the ratings, and the mark of a comment
// before a header.
void pass_preamble(Text& text, const ColumnNames& columns);
// Throws Error(data) if the text is a binary file, in UTF-16 or without ends of lines, naming its
// kind and how to convert it.
void refuse_binary(const Text& text);

// The format of a text by the extension of its path, then by its first line. If neither tells,
// throws Error(data) that lists the evidence.
std::string detect_text_format(const Text& text, const ColumnNames& columns);

// read_ratings with the size of a chunk, so that tests can cut lines anywhere.
RawRatings read_ratings_chunked(const std::string& path, const ReadOptions& options,
                                std::size_t chunk_bytes);
AlignedVector<std::uint8_t> netflix_probe_parts_chunked(const Ratings& ratings,
                                                        const std::string& probe_path,
                                                        const ParseOptions& options);

}  // namespace mf
