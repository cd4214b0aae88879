// The commands `mfbench data ...` as plain functions: they write to a stream and throw Error.
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "base/json/json_fwd.hpp"
#include "datasets/ratings/dataset.hpp"
#include "datasets/request.hpp"

namespace mf {

// Catalog and imported sets: size, scale, licence, and whether the data is at hand.
void data_list(std::ostream& out, bool json);

// Prints statistics of the ratings. Loads the set through the cache.
struct DataStatsOptions {
  DatasetRequest request;
  bool json = false;
  int threads = 1;
};
void data_stats(std::ostream& out, const DataStatsOptions& options);
Json dataset_stats(const Dataset& data, int threads);  // only the numbers

// Reads the user's own files and keeps them in the cache under a name, which specs can use from
// then on: {"name": NAME}. Parts given as train and test are kept as the split "imported".
struct DataImportOptions {
  std::string name;        // letters, digits, . _ -; not one of the catalog's
  DatasetRequest request;  // of files; times are kept for splits by time
  bool replace = false;    // an earlier import of this name
  int threads = 1;
};
void data_import(std::ostream& out, const DataImportOptions& options);

// Removes the import of this name; its files stay.
void data_remove(std::ostream& out, const std::string& name);

}  // namespace mf
