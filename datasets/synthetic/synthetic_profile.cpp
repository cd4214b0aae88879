#include "datasets/synthetic/synthetic_profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "base/error.hpp"
#include "base/files/open_file.hpp"
#include "base/json/form.hpp"
#include "base/text.hpp"
#include "datasets/ratings/scale_form.hpp"

namespace mf {

extern const std::string kProfilesJson;  // profiles.json, embedded by the build

namespace synthetic {
namespace {

// A smaller look-alike keeps its ratings per user and per item until the matrix is this dense.
constexpr double kMaxDensity = 0.1;

std::int64_t scaled(std::int64_t count, double factor) {
  return std::max<std::int64_t>(std::llround(factor * static_cast<double>(count)), 1);
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t scaled_items(const Shape& full, double factor, std::int64_t users, std::int64_t nnz) {
  const auto by_density = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(nnz) / (kMaxDensity * static_cast<double>(users))));
  std::int64_t items = scaled(full.n_items, factor);
  if (factor < 1) items = std::min(std::max(items, by_density), full.n_items);
  // Tiny matrices: four ratings an item, or half full, whichever leaves more items.
  const std::int64_t few = std::max(nnz / 4, 2 * ceil_div(nnz, users));
  if (factor < 1) items = std::min(items, few);
  return std::clamp(items, ceil_div(nnz, users), nnz);
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 1024;
constexpr std::int64_t kMostRows = std::numeric_limits<std::int32_t>::max();

Form<Shape> shape_form() {
  return Form<Shape>()
      .integer("n_users", &Shape::n_users, 1, kMostRows, "")
      .required()
      .integer("n_items", &Shape::n_items, 1, kMostRows, "")
      .required()
      .integer("nnz", &Shape::nnz, 1, kMost, "")
      .required();
}

Form<TailLaw> tail_form() {
  return Form<TailLaw>()
      .number("power", &TailLaw::power, 0, 100, "power of the body")
      .required()
      .number("tail", &TailLaw::tail, 0, 0.49, "1 / (2 index) of the Pareto tail")
      .required();
}

Form<PlantedModel> model_form() {
  using Model = PlantedModel;
  constexpr double kMostRating = 1e6;
  return Form<Model>()
      .number("mean", &Model::mean, -kMostRating, kMostRating, "")
      .required()
      .number("user_sd", &Model::user_sd, 0, kMostRating, "")
      .required()
      .number("user_activity_correlation", &Model::user_activity_correlation, -1, 1, "")
      .required()
      .number("item_sd", &Model::item_sd, 0, kMostRating, "")
      .required()
      .number("item_popularity_correlation", &Model::item_popularity_correlation, -1, 1, "")
      .required()
      .number("signal_sd", &Model::signal_sd, 0, kMostRating, "")
      .required()
      .number("noise_sd", &Model::noise_sd, 0, kMostRating, "")
      .required()
      .number("spectrum", &Model::spectrum, 0, 100, "")
      .number("gain_sd", &Model::gain_sd, 0, 10, "")
      .number("noise_spread", &Model::noise_spread, 0, 10, "")
      .number("selection", &Model::selection, 0, 100, "")
      .number("reserve", &Model::reserve, 0, 1000, "")
      .number("coarse_share", &Model::coarse_share, 0, 1, "")
      .number("coarse_step", &Model::coarse_step, 0, kMostRating, "")
      .number("taste_gain", &Model::taste_gain, 0, kMostRating, "");
}

void read_niches(JsonReader& reader, TasteLaw& law) {
  const Json& list = reader.require("niches");
  const auto is_count = [](const Json& n) {
    return n.is_number_integer() && n.get<std::int64_t>() >= 1 && n.get<std::int64_t>() <= 1 << 20;
  };
  if (!list.is_array() || list.size() != law.niches.size() ||
      !std::all_of(list.begin(), list.end(), is_count)) {
    fail(ErrorKind::usage, "{}: found {}, expected a list of {} integers from 1 to {}",
         reader.path("niches"), describe(list), law.niches.size(), 1 << 20);
  }
  std::copy(list.begin(), list.end(), law.niches.begin());
}

Form<TasteLaw> taste_form() {
  return Form<TasteLaw>()
      .number("global", &TasteLaw::global, 0, 1, "")
      .required()
      .field({"niches", "", nullptr, nullptr}, read_niches)
      .integer("items_a_favourite", &TasteLaw::items_a_favourite, 1, kMost, "")
      .required();
}

Form<Profile> profile_form() {
  const auto rated = Form<Profile>()
                         .object("scale", &Profile::scale, rating_scale_form(), "")
                         .required()
                         .object("model", &Profile::model, model_form(), "")
                         .required();
  const auto modelled = Form<Profile>().object("model", &Profile::model, model_form(), "");
  return Form<Profile>()
      .name("name", &Profile::name, "")
      .object("shape", &Profile::shape, shape_form(), "")
      .required()
      .integer("min_user_degree", &Profile::min_user_degree, 1, kMost, "")
      .required()
      .object("activity", &Profile::activity, tail_form(), "")
      .required()
      .object("popularity", &Profile::popularity, tail_form(), "")
      .required()
      .object("tastes", &Profile::tastes, taste_form(), "")
      .kinds("values", &Profile::values, kValuesNames,
             {{Values::ratings, rated}, {Values::counts, rated}, {Values::ones, modelled}}, "");
}

const Profile& own_profile(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, Profile> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(path); found != known.end()) return found->second;
  Profile own = profile_form().parse(parse_json(read_text(path, Origin::named), path), path + ":$");
  const auto [users, items, nnz] = own.shape;
  if (nnz < std::max(users, items) || nnz > users * items) {
    fail(ErrorKind::usage,
         "{}:$.shape.nnz: found {}, expected a rating of each of {} users and {} items or more, "
         "and no pair twice",
         path, nnz, users, items);
  }
  return known[path] = own;
}

}  // namespace

std::vector<Profile> parse_profiles(const std::string& text, const std::string& name) {
  struct File {
    std::vector<Profile> profiles;
  };
  const auto form =
      Form<File>().list("profiles", &File::profiles, profile_form(), "").required().remark("about");
  return form.parse(parse_json(text, name), name + ":$").profiles;
}

const std::vector<Profile>& profiles() {
  static const std::vector<Profile> all = parse_profiles(kProfilesJson, "profiles.json");
  return all;
}

bool is_profile_file(const std::string& like) { return like.ends_with(".json"); }

const Profile& find_profile(const std::string& like) {
  if (is_profile_file(like)) return own_profile(like);
  for (const Profile& profile : profiles()) {
    if (profile.name == like) return profile;
  }
  const std::string near = nearest(like, look_alike_names());
  fail(ErrorKind::usage, "unknown look-alike \"{}\"{}; known: {}", like,
       near.empty() ? "" : "; did you mean \"" + near + "\"?", join(look_alike_names()));
}

Shape scaled_shape(const Profile& profile, double factor) {
  if (!(factor > 0 && factor <= kMaxLookAlikeScale))
    fail(ErrorKind::usage, "look-alike {}: scale is {}, expected a number in (0, {}]", profile.name,
         factor, kMaxLookAlikeScale);
  if (factor == 1) return profile.shape;
  Shape shape;
  shape.nnz = scaled(profile.shape.nnz, factor);
  shape.n_users = std::min(scaled(profile.shape.n_users, factor), shape.nnz);
  shape.n_items = scaled_items(profile.shape, factor, shape.n_users, shape.nnz);
  if (shape.n_users > std::numeric_limits<std::int32_t>::max())
    fail(ErrorKind::usage, "look-alike {}: scale {} asks for {} users, at most {} can be indexed",
         profile.name, factor, shape.n_users, std::numeric_limits<std::int32_t>::max());
  return shape;
}

}  // namespace synthetic
}  // namespace mf
