// A data set as the harness sees it: ratings, and where they came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/aligned.hpp"
#include "datasets/ratings/ratings.hpp"

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
  std::string name;                  // DatasetRequest::label() (datasets/request.hpp)
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

}  // namespace mf
