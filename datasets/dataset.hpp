// A data set as the harness sees it: ratings, where they came from, and how a spec names one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/aligned.hpp"
#include "base/json.hpp"
#include "datasets/ratings.hpp"

namespace mf {

// The declared rating scale: min, min + step, ..., max. step 0: any real value in between.
struct RatingScale {
  float min = 0;
  float max = 0;
  float step = 0;
};

// Parts of a given split; the labels of Dataset::parts.
enum Part : std::uint8_t { kTrain = 0, kTest = 1, kValidation = 2 };

struct DatasetInfo {
  std::string name;                  // DatasetRequest::label()
  bool look_alike = false;           // synthetic: labelled in results and figures
  std::string source;                // catalog | synthetic | file
  std::string source_hash;           // sha256 of the source text where known, else empty
  std::optional<RatingScale> scale;  // where declared
  std::int64_t duplicate_pairs = 0;
  std::string duplicate_policy = "error";
  std::uint64_t content_hash = 0;  // of the ratings
};

struct Dataset {
  DatasetInfo info;
  Ratings ratings;
  AlignedVector<std::uint8_t> parts;  // nnz labels where train and test were given, else empty
};

// One entry of "datasets" in a spec, without its split: exactly one of three forms.
//   {"name": "ml-1m"} or {"name": "ml-100k", "split": {"given": "u1"}}      the catalog
//   {"like": "netflix", "scale": 0.1, "seed": 1}                            a look-alike
//   {"path": "my.csv", "format": "csv"} or {"train": a, "test": b, ...}     files of one's own
struct DatasetRequest {
  std::string own_label;  // the key "label": decides nothing but the name
  std::string name;       // catalog
  std::string given;      // catalog: name of a given split, empty for the whole set
  std::string like;       // look-alike
  double scale_factor = 1.0;
  std::uint64_t seed = 1;
  std::string path, train, test, validation;  // files
  std::string format = "auto";
  std::string duplicates = "error";
  std::optional<RatingScale> scale;

  // The one name of the data set in results, tables and messages; case ids have it with other
  // characters than letters, digits, '.' and '_' as '-':
  //   "ml-100k", "ml-100k@u1"            catalog and imported
  //   "netflix look-alike x0.1 seed2"    a look-alike
  //   "ratings.csv"                      a file, without its folder
  //   "mine/train.txt"                   given parts: the train file with the last of its folders
  // with "+last" or "+mean" where the policy for duplicates is not the usual one. The key "label"
  // replaces it.
  std::string label() const;
  std::string cache_name() const;  // tells any two requests apart, fit for a file name
};

}  // namespace mf
