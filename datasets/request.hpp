// One data set of a spec, before it is loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "datasets/ratings/dataset.hpp"
#include "datasets/readers/columns.hpp"

namespace mf {

// One entry of "datasets" in a spec, without its split: exactly one of four forms.
//   {"name": "ml-1m"} or {"name": "ml-100k", "split": {"given": "u1"}}      the catalog
//   {"like": "netflix", "scale": 0.1, "seed": 1}                            a look-alike
//   {"expand": "ml-1m", "users": 80, "items": 5, "seed": 1}                 a real set enlarged
//   {"path": "my.csv", "format": "csv"} or {"train": a, "test": b, ...}     files of one's own
// and beside each, if wanted, "implicit": {"min_rating": 4}.
struct DatasetRequest {
  std::string own_label;  // the key "label": decides nothing but the name
  std::string name;       // catalog
  std::string given;      // catalog: name of a given split, empty for the whole set
  std::string like;       // look-alike
  double scale_factor = 1.0;
  std::string expand;  // the real set that is enlarged: of the catalog, or imported
  std::int64_t user_copies = 1, item_copies = 1;
  std::uint64_t seed = 1;                     // of a look-alike, or of what is enlarged
  std::string path, train, test, validation;  // files
  std::string format = "auto";
  IdKind ids = IdKind::automatic;
  ColumnNames columns;
  std::string duplicates = "error";
  std::optional<RatingScale> scale;
  std::optional<double> unrated;         // the value of pairs without a rating, which are left out
  bool times = false;                    // of the ratings: its split asks for them
  std::optional<ImplicitRule> implicit;  // what of these ratings counts as observed

  // The one name of the data set in results, tables and messages; case ids have it with other
  // characters than letters, digits, '.' and '_' as '-':
  //   "ml-100k", "ml-100k@u1"            catalog and imported
  //   "netflix look-alike x0.1 seed2"    a look-alike
  //   "ml-1m expanded 80x5 seed2"        a real set enlarged
  //   "ratings.csv"                      a file, without its folder
  //   "mine/train.txt"                   given parts: the train file with the last of its folders
  // with "+last", "+sum" and the like if the policy for duplicates is not the usual one, and
  // "implicit >=4" or "implicit >=4 rating" behind a blank if there is such a rule. The key "label"
  // replaces it.
  std::string label() const;
  // Tells any two requests apart that differ in more than the rule, fit for a file name: the rule
  // is applied to what is in the cache.
  std::string cache_name() const;
  std::string identity() const;  // tells any two requests apart
};

}  // namespace mf
