// One table of keys for each form of a "datasets" entry: reading, messages and the JSON Schema.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "datasets/cache.hpp"
#include "datasets/dataset_entry.hpp"
#include "datasets/expand/expand.hpp"
#include "datasets/fetch/catalog.hpp"
#include "datasets/load.hpp"
#include "datasets/ratings/scale_form.hpp"
#include "datasets/readers/columns_form.hpp"
#include "datasets/readers/readers.hpp"
#include "datasets/readers/times.hpp"
#include "datasets/synthetic/synthetic.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

using Kind = SplitSpec::Kind;
using SplitForm = Form<SplitKeys>;
using EntryForm = Form<DatasetEntry>;

constexpr std::int64_t kMaxLabel = 100;
constexpr double kMinObserved = 1e-9;  // a value of 0 would be the same as not observed

// Runs `check`, putting the JSON path in front of its message.
template <class Check>
void at_path(const std::string& path, Check check) {
  try {
    check();
  } catch (const Error& error) {
    fail(ErrorKind::usage, "{}: {}", path, error.what());
  }
}

// ---- splits ----

// The names of given splits, and what refuses others. No names: any.
struct GivenSplits {
  std::vector<std::string> names;
  std::function<void(const std::string&)> check;
};

SplitForm kind_of(Kind kind) {
  return SplitForm().then([=](JsonReader&, SplitKeys& split) { split.kind = kind; });
}

SplitForm given_form(const GivenSplits& given) {
  const Json names = given.names.empty() ? Json{{"type", "string"}, {"minLength", 1}}
                                         : Json{{"enum", given.names}};
  return kind_of(Kind::given)
      .field({"given", "a given split of the data set", names, nullptr},
             [=](JsonReader& reader, SplitKeys& split) {
               split.given = reader.name("given");
               if (given.check) at_path(reader.path("given"), [&] { given.check(split.given); });
             });
}

constexpr std::int64_t kMostOfUser = 1'000'000;
constexpr std::int64_t kMostFolds = 1000;
constexpr const char* kNothingDrawn = "nothing is drawn, the times decide; leave it out";

// A share; with leave_last, a number of ratings of each user.
void read_validation(JsonReader& reader, SplitKeys& split) {
  if (reader.find("validation") == nullptr) return;
  if (split.kind == Kind::leave_last) {
    split.validation = static_cast<double>(reader.integer("validation", 0, 0, kMostOfUser));
  } else {
    split.validation = reader.number("validation", split.validation, 0, 0.9);
  }
}

FieldInfo validation_info() {
  Json value = {{"anyOf", Json::array({range_schema("number", 0.0, 0.9),
                                       range_schema<std::int64_t>("integer", 1, kMostOfUser)})},
                {"default", 0}};
  return {"validation",
          "share of what is left for training that is the validation part; with \"users\", of the "
          "users left; with \"leave_last\", a number of ratings of each user",
          std::move(value), nullptr};
}

SplitForm with_common_keys(SplitForm form) {
  return std::move(form)
      .field(validation_info(), read_validation)
      .integer("seed", &SplitKeys::own_seed, 0, INT64_MAX, "seed of the draw; default: the case's");
}

// A share, or a date.
void read_cut(JsonReader& reader, SplitKeys& split) {
  if (const Json* found = reader.find("by_time"); found == nullptr || !found->is_string()) {
    split.before_cut = reader.number("by_time", split.before_cut, 1e-9, 0.999999);
    return;
  }
  split.cut_date = reader.name("by_time");
  if (date_of(split.cut_date)) return;
  fail(ErrorKind::usage,
       "{}: found \"{}\", expected a share of the ratings or a date such as "
       "\"2005-09-06\" or \"2005-09-06T12:30:00Z\"",
       reader.path("by_time"), split.cut_date);
}

SplitForm by_time_form() {
  Json value = {{"anyOf", Json::array({range_schema("number", 1e-9, 0.999999),
                                       Json{{"type", "string"},
                                            {"pattern", "^[0-9]{4}-[0-9]{2}-[0-9]{2}"}}})}};
  return kind_of(Kind::by_time)
      .field({"by_time",
              "share of all ratings, the earliest, or a date; the later ones are the test part",
              std::move(value), nullptr},
             read_cut)
      .refuse("seed", kNothingDrawn);
}

SplitForm leave_last_form() {
  return kind_of(Kind::leave_last)
      .integer("leave_last", &SplitKeys::leave_last, 1, kMostOfUser,
               "the last ratings of each user who has more")
      .refuse("seed", kNothingDrawn);
}

SplitForm folds_form() {
  return kind_of(Kind::folds)
      .integer("folds", &SplitKeys::folds, 2, kMostFolds,
               "folds of the ratings, drawn uniformly, each the test part in turn")
      .integer("fold", &SplitKeys::one_fold, 1, kMostFolds,
               "the fold that is the test part; default: each, a case for each")
      .then([](JsonReader& reader, SplitKeys& split) {
        if (split.one_fold.value_or(1) <= split.folds) return;
        fail(ErrorKind::usage, "{}: found {}, expected an integer from 1 to {}, the folds",
             reader.path("fold"), *split.one_fold, split.folds);
      });
}

// `why_no_times`: of data whose ratings have no times, what to do.
SplitForm make_split_form(const std::optional<GivenSplits>& given, const std::string& why_none,
                          const std::string& why_no_times = "") {
  std::vector<std::pair<std::string, SplitForm>> forms = {
      {"holdout", kind_of(Kind::holdout)
                      .number("holdout", &SplitKeys::test_fraction, 1e-9, 0.999999,
                              "share of all ratings, drawn uniformly, that is the test part")},
      {"leave_out", kind_of(Kind::leave_out)
                        .integer("leave_out", &SplitKeys::leave_out, 1, kMostOfUser,
                                 "random ratings of each user who has more")},
      {"folds", folds_form()},
      {"users", kind_of(Kind::users)
                    .number("users", &SplitKeys::user_fraction, 1e-9, 0.999999,
                            "share of users, those with two or more ratings, held out whole")
                    .number("fold_in", &SplitKeys::fold_in, 1e-9, 0.999999,
                            "share of a held-out user's ratings that is the history to fold in; "
                            "the rest is the test part")}};
  SplitForm form;
  if (why_no_times.empty()) {
    forms.emplace_back("by_time", by_time_form());
    forms.emplace_back("leave_last", leave_last_form());
  } else {
    for (const char* key : {"by_time", "leave_last"})
      form = std::move(form).refuse(key, why_no_times);
  }
  if (given) {
    forms.emplace_back("given", given_form(*given));
  } else {
    form = std::move(form).refuse("given", why_none);
  }
  return with_common_keys(std::move(form).one_of_keys(
      std::move(forms), false,
      "expected one of \"holdout\", \"leave_out\", \"folds\", \"by_time\", \"leave_last\", "
      "\"users\" and \"given\""));
}

// Train and test files are the split.
SplitForm make_parts_split_form() {
  const std::string why = "the files \"train\" and \"test\" are the split; leave it out";
  SplitForm form = kind_of(Kind::given);
  for (const char* key : {"holdout", "leave_out", "folds", "fold", "by_time", "leave_last", "users",
                          "fold_in", "given"}) {
    form = std::move(form).refuse(key, why);
  }
  return with_common_keys(std::move(form));
}

EntryForm with_split(EntryForm form, const SplitForm& split) {
  return std::move(form).object("split", &DatasetEntry::split, split, "instead of the spec's");
}

EntryForm with_drawn_split(EntryForm form, const std::string& why_no_times = "") {
  return with_split(
      std::move(form),
      make_split_form({}, "only data sets of the catalog have named splits", why_no_times));
}

constexpr const char* kMadeWithoutTimes =
    "ratings that are made have no times; take \"holdout\", \"leave_out\" or \"folds\"";

// ---- names ----

EntryForm catalog_form(const CatalogEntry& entry) {
  EntryForm form =
      EntryForm().choice("duplicates", &DatasetEntry::duplicates, kDuplicatePolicyNames.all(),
                         entry.duplicates, "pairs that occur twice");
  GivenSplits given;
  for (const auto& split : entry.splits) given.names.push_back(split.name);
  const auto name = entry.name;
  given.check = [=](const std::string& split) {
    find_given_split(find_catalog_entry(name), split);
  };
  if (given.names.empty()) {
    return with_split(std::move(form),
                      make_split_form({}, "the catalog has no given split of " + name));
  }
  return with_split(std::move(form), make_split_form(given, ""));
}

// An imported set has at most one given split, the parts it was imported with.
EntryForm imported_form(const CacheHead& head) {
  const std::string name = head.info.name;
  const std::string policy = head.info.duplicate_policy;
  const std::string why_no_times =
      head.has_times ? ""
                     : name +
                           " was imported without the times of its ratings; import it again with "
                           "--times";
  const EntryForm form =
      EntryForm().then([=](JsonReader&, DatasetEntry& entry) { entry.duplicates = policy; });
  if (!head.has_parts) {
    return with_split(form, make_split_form({}, name + " was imported without train and test parts",
                                            why_no_times));
  }
  const auto check = [=](const std::string& split) {
    if (split == "imported") return;
    fail(ErrorKind::usage, "found \"{}\"; {} was imported with parts, which are named \"imported\"",
         split, name);
  };
  return with_split(form, make_split_form(GivenSplits{{"imported"}, check}, "", why_no_times));
}

void read_named(JsonReader& reader, DatasetEntry& entry) {
  reader.require("name");
  entry.name = reader.name("name");
  if (const CatalogEntry* known = catalog_entry_or_null(entry.name)) {
    catalog_form(*known).read(reader, entry);
    entry.given = entry.split.given;
    return;
  }
  if (!is_imported(entry.name)) {
    if (std::error_code error; fs::exists(entry.name, error)) {
      fail(ErrorKind::usage,
           "{}: unknown data set \"{}\"; for the file or folder of that name write ./{}",
           reader.path("name"), entry.name, entry.name);
    }
    at_path(reader.path("name"), [&] { find_catalog_entry(entry.name); });
  }
  CacheHead head = read_cache_head(cache_path(entry));
  head.info.name = entry.name;  // a cache may have been renamed
  imported_form(head).read(reader, entry);
}

using Kinds = std::vector<NamedForm>;

Kinds known_names() {
  Kinds kinds;
  for (const auto& entry : catalog()) kinds.push_back({entry.name, catalog_form(entry).info()});
  for (const auto& head : imported_sets()) {
    kinds.push_back({head.info.name, imported_form(head).info()});
  }
  return kinds;
}

EntryForm named_form(Kinds kinds) {
  std::vector<std::string> names;
  for (const auto& [name, info] : kinds) names.push_back(name);
  return EntryForm().select(
      {"name", "a name of the catalog, or an imported one", {{"enum", names}}, nullptr}, read_named,
      std::move(kinds));
}

// ---- made ones, and files ----

EntryForm like_form() {
  const Json factor = {
      {"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", kMaxLookAlikeScale}, {"default", 1}};
  EntryForm form =
      EntryForm()
          .field({"like",
                  "a published set, or a file of `mfbench data fit`",
                  {{"anyOf", Json::array({Json{{"enum", look_alike_names()}},
                                          Json{{"type", "string"}, {"pattern", "\\.json$"}}})}},
                  nullptr},
                 [](JsonReader& reader, DatasetEntry& entry) { entry.like = reader.name("like"); })
          .field({"scale", "multiplies the number of ratings", factor, nullptr},
                 [](JsonReader& reader, DatasetEntry& entry) {
                   entry.scale_factor = reader.number("scale", 1.0, 0, kMaxLookAlikeScale);
                   if (entry.scale_factor > 0) return;
                   fail(ErrorKind::usage, "{}: found {}, expected a number above 0",
                        reader.path("scale"), entry.scale_factor);
                 })
          .integer("seed", &DatasetEntry::seed, 0, INT64_MAX,
                   "names the data; independent of the spec's seeds")
          .then([](JsonReader& reader, DatasetEntry& entry) {
            at_path(reader.path("like"), [&] { look_alike_shape(entry.like, entry.scale_factor); });
          });
  return with_drawn_split(std::move(form), kMadeWithoutTimes);
}

// `names`: those that are known here, for the schema.
EntryForm expand_form(const Kinds& known) {
  std::vector<std::string> names;
  for (const auto& [name, info] : known) names.push_back(name);
  const Json values = names.empty() ? Json{{"type", "string"}} : Json{{"enum", names}};
  EntryForm form =
      EntryForm()
          .field({"expand", "a real set, of the catalog or imported", values, nullptr},
                 [](JsonReader& reader, DatasetEntry& entry) {
                   entry.expand = reader.name("expand");
                   if (is_imported(entry.expand)) return;
                   at_path(reader.path("expand"), [&] { find_catalog_entry(entry.expand); });
                 })
          .integer("users", &DatasetEntry::user_copies, 1, kMaxExpansion,
                   "how many of each of its users")
          .required()
          .integer("items", &DatasetEntry::item_copies, 1, kMaxExpansion,
                   "how many of each of its items")
          .required()
          .integer("seed", &DatasetEntry::seed, 0, INT64_MAX,
                   "names the data; independent of the spec's seeds")
          .then([](JsonReader& reader, DatasetEntry& entry) {
            at_path(reader.path("expand"), [&] { expected_shape(entry); });
          });
  return with_drawn_split(std::move(form), kMadeWithoutTimes);
}

EntryForm with_file_options(EntryForm form) {
  std::vector<std::string> formats = {"auto"};
  for (const auto& format : reader_formats()) formats.push_back(format.name);
  return std::move(form)
      .choice("format", &DatasetEntry::format, formats, "auto", "format of the files")
      .choice("ids", &DatasetEntry::ids, kIdKindNames,
              "integers, or text such as \"alice\"; auto: text if any id of a column is no integer")
      .object("columns", &DatasetEntry::columns, columns_form(),
              "names in the header of the files, if they are not the usual ones, or places such as "
              "#3 of files without a header")
      .choice("duplicates", &DatasetEntry::duplicates, kDuplicatePolicyNames.all(), "error",
              "pairs that occur twice")
      .number("unrated", &DatasetEntry::unrated, -1e9, 1e9,
              "the value that marks pairs without a rating, which are left out")
      .object("rating_scale", &DatasetEntry::scale, rating_scale_form(),
              "ratings outside are an error");
}

EntryForm path_form() {
  return with_drawn_split(with_file_options(
      EntryForm().name("path", &DatasetEntry::path, "a file or folder of your own")));
}

EntryForm parts_form() {
  return with_split(
      with_file_options(
          EntryForm()
              .name("train", &DatasetEntry::train, "file of the train part")
              .name("test", &DatasetEntry::test, "file of the test part")
              .optional_name("validation", &DatasetEntry::validation, "file of the validation part")
              .then([](JsonReader&, DatasetEntry& entry) { entry.split.kind = Kind::given; })),
      make_parts_split_form());
}

// ---- labels ----

void read_label(JsonReader& reader, DatasetEntry& entry) {
  if (reader.find("label") == nullptr) return;
  entry.own_label = reader.string("label", "");
  const std::string& text = entry.own_label;
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;  // the first byte of one in UTF-8
  });
  if (!text.empty() && text.front() != ' ' && text.back() != ' ' && is_harmless(text) &&
      characters <= kMaxLabel) {
    return;
  }
  fail(ErrorKind::usage,
       "{}: found {}, expected up to {} printable characters, no blank at either end",
       reader.path("label"), describe(text), kMaxLabel);
}

FieldInfo label_info() {
  return {"label",
          "its name in results, tables and figures; decides nothing else",
          {{"type", "string"},
           {"maxLength", kMaxLabel},
           {"pattern",
            "^(?! )[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]+(?<! )$"}},
          nullptr};
}

// ---- implicit feedback ----

Form<ImplicitRule> implicit_form() {
  return Form<ImplicitRule>()
      .number("min_rating", &ImplicitRule::min_rating, kMinObserved, 1e9,
              "ratings from here on are observed pairs, the others are dropped")
      .required()
      .choice("value", &ImplicitRule::value, kImplicitValueNames,
              "value of an observed pair: 1, or its rating (which may be a count)");
}

EntryForm make_entry_form(Kinds names) {
  EntryForm expand = expand_form(names);
  return EntryForm()
      .one_of_keys({{"name", named_form(std::move(names))},
                    {"like", like_form()},
                    {"expand", std::move(expand)},
                    {"path", path_form()},
                    {"train", parts_form()}},
                   true,
                   "expected exactly one of \"name\", \"like\", \"expand\", \"path\" and \"train\" "
                   "with \"test\"")
      .object("implicit", &DatasetEntry::implicit, implicit_form(),
              "implicit feedback: makes observed pairs of ratings")
      .field(label_info(), read_label)
      .then([](JsonReader&, DatasetEntry& entry) {
        entry.times = entry.split.spec(0).needs_times();
      });
}

}  // namespace

SplitSpec SplitKeys::spec(std::uint64_t case_seed) const {
  SplitSpec out = *this;
  out.fold = one_fold.value_or(1);
  if (kind == Kind::leave_last) {
    out.validation_last = static_cast<int>(validation);
  } else {
    out.validation_fraction = validation;
  }
  out.seed = own_seed.value_or(case_seed);
  return out;
}

const Form<DatasetEntry>& dataset_form() {
  static const EntryForm form = make_entry_form({});
  return form;
}

FormInfo dataset_form_info() { return make_entry_form(known_names()).info(); }

const Form<SplitKeys>& default_split_form() {
  static const SplitForm form = make_split_form(GivenSplits{}, "");
  return form;
}

DatasetRequest parse_dataset_request(JsonReader& reader) {
  DatasetEntry entry;
  dataset_form().read(reader, entry);
  return entry;
}

std::vector<CacheHead> imported_sets(std::vector<std::string>* unreadable) {
  std::vector<CacheHead> sets;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(cache_folder(), error)) {
    if (file.path().extension() != ".mfc") continue;
    try {
      CacheHead head = read_cache_head(file.path().string());
      if (head.key == kImportKey) sets.push_back(std::move(head));
    } catch (const Error& why) {
      const std::string name = file.path().stem().string();
      const bool made_again =
          catalog_entry_or_null(name) != nullptr || name.find('@') != name.npos ||
          name.find("-look-alike") != name.npos || name.find("-expanded-") != name.npos;
      if (unreadable != nullptr && !made_again) unreadable->emplace_back(why.what());
    }
  }
  std::sort(sets.begin(), sets.end(),
            [](const auto& a, const auto& b) { return a.info.name < b.info.name; });
  return sets;
}

}  // namespace mf
