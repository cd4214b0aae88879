// A data set as the harness sees it: ratings and their origin.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/aligned.hpp"
#include "base/json/json_fwd.hpp"
#include "base/json/names.hpp"
#include "datasets/ratings/rating_times.hpp"
#include "datasets/ratings/ratings.hpp"
#include "datasets/ratings/unread_ratings.hpp"

namespace mf {

// The declared rating scale: min, min + step, ..., max. step 0: any real value in between.
struct RatingScale {
  float min = 0;
  float max = 0;
  float step = 0;
};

// Why it is invalid, or empty: "min 5 is not below max 1". Steps must be distinct in floats.
std::optional<std::string> why_no_scale(const RatingScale& scale);

// Implicit feedback from ratings (datasets/implicit_rule.hpp): a pair rated at or above min_rating
// was observed, with the value 1 or the rating's.
enum class ImplicitValue { binary, rating };
inline constexpr Names kImplicitValueNames{std::to_array<Named<ImplicitValue>>(
    {{"binary", ImplicitValue::binary}, {"rating", ImplicitValue::rating}})};

struct ImplicitRule {
  double min_rating = 0;
  ImplicitValue value = ImplicitValue::binary;
};

// The rule a data set was made by, and its dropped ratings with the users and items left without.
struct ImplicitInfo {
  ImplicitRule rule;
  std::int64_t ratings_dropped = 0, users_dropped = 0, items_dropped = 0;

  Json to_json() const;
};

// Parts of a given split; the labels of Dataset::parts.
enum Part : std::uint8_t { kTrain = 0, kTest = 1, kValidation = 2 };

struct DatasetInfo {
  std::string name;                  // DatasetRequest::label() (datasets/request.hpp)
  bool look_alike = false;           // synthetic or enlarged: labelled in results and figures
  std::string source;                // catalog | synthetic | expanded | file
  std::string source_hash;           // sha256 of the source text if known, else empty
  std::optional<RatingScale> scale;  // if declared
  std::int64_t duplicate_pairs = 0;
  std::string duplicate_policy = "error";
  std::uint64_t content_hash = 0;        // of the ratings
  std::optional<ImplicitInfo> implicit;  // if they were made by a rule
  // "3 pairs with more than one rating: the last counts".
  std::string repeats() const;
};

// How the time of loading was spent. `cache`: reading and checking a cache file, or writing one
// before the data set was handed out.
struct LoadSeconds {
  double read = 0;    // the source file into ratings in its order
  double matrix = 0;  // those into the sorted matrix; generating a look-alike
  double hash = 0;    // of the content, and waiting for the SHA-256 of the source
  double cache = 0;
};

struct Dataset {
  DatasetInfo info;
  LoadSeconds load;
  Ratings ratings;
  SharedColumn<std::uint8_t> parts;  // labels if train and test were given
  RatingTimes times;                 // if a split by time asks for them
  // Set while the ratings are still in a file: `ratings` has their number, offsets and ids, but
  // columns of no meaning. Only a split reads them.
  std::shared_ptr<UnreadRatings> unread;
};

}  // namespace mf
