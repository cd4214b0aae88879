// How a data set is named, in a spec and on the command line: a word or an object.
//
//   ml-100k  ml-100k@u1           the catalog, or imported; with a given split
//   like:netflix  like:netflix:0.1    a look-alike, and the factor of its ratings
//   expand:ml-1m:80:5             a real set enlarged: copies of its users, and of its items
//   ratings.csv  data/mine        the user's own file or folder: anything with a '/', and an
//                                 unknown name with a '.'
//
// A word is short for an object; docs/spec.md has the keys of objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json/form.hpp"
#include "base/json/json.hpp"
#include "datasets/cache.hpp"
#include "datasets/request.hpp"
#include "datasets/split/split.hpp"

namespace mf {

// The keys of a split: at most one of holdout, leave_out, folds, by_time, leave_last, users and
// given.
struct SplitKeys : SplitSpec {
  std::optional<int> one_fold;  // none: a case for each
  std::string given;
  double validation = 0;                  // a share; with leave_last, a number of ratings
  std::optional<std::uint64_t> own_seed;  // none: each case's

  SplitSpec spec(std::uint64_t case_seed) const;
};

struct DatasetEntry : DatasetRequest {
  SplitKeys split;
};

// For an entry of "datasets", an object.
const Form<DatasetEntry>& dataset_form();
// The same with the keys of every name that is known here, imported ones included.
FormInfo dataset_form_info();
// For the spec's split, for all data sets without their own.
const Form<SplitKeys>& default_split_form();

// Reads an entry, an object, with its split; the caller calls finish(). Throws Error(usage) with
// the JSON path.
DatasetRequest parse_dataset_request(JsonReader& reader);

// Expands a word in the place of an entry to its object; other values stay as they are. `where` is
// for messages.
Json expand_dataset_entry(const Json& entry, const std::string& where);
// JSON Schema of such words.
Json dataset_word_schema();

// The imports of `data import` in the cache, by name. `unreadable` takes the reasons why possible
// imports cannot be read.
std::vector<CacheHead> imported_sets(std::vector<std::string>* unreadable = nullptr);

}  // namespace mf
