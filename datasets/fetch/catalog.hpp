// Real data sets by name: origin, licence, checksums, format, scale and expected counts, from
// datasets/fetch/catalog.json (compiled in, so that the binary needs no file; what fetch.py needs
// besides, it reads itself).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/ratings/dataset.hpp"
#include "datasets/ratings/rating_files.hpp"
#include "datasets/readers/columns.hpp"

namespace mf {

struct CatalogFile {
  std::string name;  // file name inside the set's folder, e.g. u.data (may lie there as u.data.xz)
  std::string sha256;  // of the uncompressed file; empty where none is published
  std::string format;
  std::string member;  // its path inside the archive of `url`; empty: not part of that archive
  ColumnNames columns;
  IdKind ids = IdKind::automatic;
  bool damaged_lines = false;  // it is known to have some, which are left out
};

struct GivenSplit {
  std::string name, train, test;  // names of CatalogFiles
  std::string probe;              // netflix: the probe file instead of train and test
  std::string lines_of;           // one file instead, of which test_lines are the test part
  LineRange test_lines;
  std::int64_t nnz = 0;  // ratings of both parts, 0 where unknown
};

struct CatalogEntry {
  std::string name, title, origin, url, licence, citation;
  bool redistributable = false;
  std::vector<CatalogFile> files;
  // Names of files that hold the whole set, one or several that do together; the preferred first.
  std::vector<std::vector<std::string>> whole;
  std::vector<GivenSplit> splits;
  std::optional<RatingScale> scale;                // none: counts or observed pairs
  std::int64_t n_users = 0, n_items = 0, nnz = 0;  // users and items that occur in a rating
  bool counts_verified = false;  // recomputed from the files; otherwise quoted from the literature
  std::string duplicates = "error";
};

const std::vector<CatalogEntry>& catalog();
// The entry, or null.
const CatalogEntry* catalog_entry_or_null(const std::string& name);
const CatalogEntry& find_catalog_entry(const std::string& name);  // throws, with the nearest name

// Throws Error(usage) naming the entry, the file or the split that is not there.
const CatalogFile& find_catalog_file(const CatalogEntry& entry, const std::string& file);
const GivenSplit& find_given_split(const CatalogEntry& entry, const std::string& split);

// Whether fetching the entry's URL brings this file: a member of the archive, or the download
// itself.
bool is_fetched(const CatalogEntry& entry, const CatalogFile& file);

// Folders searched for real data: $MFBENCH_DATA (colon-separated), else ./data.
std::vector<std::string> data_folders();

// Path of the entry's file (plain or .xz, .gz, .zst) in the data folders, if it is there.
std::optional<std::string> find_data_file(const CatalogEntry& entry, const std::string& file);

// Parses a catalog in the form of catalog.json (for tests of files that are no part of it).
std::vector<CatalogEntry> parse_catalog(const std::string& text, const std::string& name);

}  // namespace mf
