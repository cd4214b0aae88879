// A data set as the harness sees it: ratings, and where they came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/aligned.hpp"
#include "base/json/json_fwd.hpp"
#include "base/json/names.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

// The declared rating scale: min, min + step, ..., max. step 0: any real value in between.
struct RatingScale {
  float min = 0;
  float max = 0;
  float step = 0;
};

// What is wrong with it, or nothing: "min 5 is not below max 1". Steps are to be told apart in
// floats.
std::optional<std::string> why_no_scale(const RatingScale& scale);

// Implicit feedback from ratings (datasets/implicit_rule.hpp): a pair rated at or above min_rating
// was observed, with the value 1 or that of the rating.
enum class ImplicitValue { binary, rating };
inline constexpr Names kImplicitValueNames{std::to_array<Named<ImplicitValue>>(
    {{"binary", ImplicitValue::binary}, {"rating", ImplicitValue::rating}})};

struct ImplicitRule {
  double min_rating = 0;
  ImplicitValue value = ImplicitValue::binary;
};

// The rule a data set was made by, and what it dropped.
struct ImplicitInfo {
  ImplicitRule rule;
  std::int64_t ratings_dropped = 0;  // below min_rating
  std::int64_t users_dropped = 0;    // without a rating that is left
  std::int64_t items_dropped = 0;

  Json to_json() const;
};

// Parts of a given split; the labels of Dataset::parts.
enum Part : std::uint8_t { kTrain = 0, kTest = 1, kValidation = 2 };

struct DatasetInfo {
  std::string name;                  // DatasetRequest::label() (datasets/request.hpp)
  bool look_alike = false;           // synthetic or enlarged: labelled in results and figures
  std::string source;                // catalog | synthetic | expanded | file
  std::string source_hash;           // sha256 of the source text where known, else empty
  std::optional<RatingScale> scale;  // where declared
  std::int64_t duplicate_pairs = 0;
  std::string duplicate_policy = "error";
  std::uint64_t content_hash = 0;        // of the ratings
  std::optional<ImplicitInfo> implicit;  // where they were made by a rule
};

// Where the time of loading went. `cache`: reading and checking a cache file, or writing one before
// the data set was handed out.
struct LoadSeconds {
  double read = 0;    // the source file into ratings in its order
  double matrix = 0;  // those into the sorted matrix; generating a look-alike
  double hash = 0;  // of the content; and what the SHA-256 of the source took longer than the rest
  double cache = 0;
};

struct Dataset {
  DatasetInfo info;
  LoadSeconds load;
  Ratings ratings;
  AlignedVector<std::uint8_t> parts;  // nnz labels where train and test were given, else empty
};

}  // namespace mf
