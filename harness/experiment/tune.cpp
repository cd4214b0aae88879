#include "harness/experiment/tune.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/problems.hpp"
#include "base/rng.hpp"
#include "harness/experiment/metric_keys.hpp"
#include "harness/experiment/schedule.hpp"

namespace mf {
namespace {

constexpr const char* kRate = "learning_rate";
constexpr double kEdge = 0.05;  // of a range, at each of its ends
constexpr std::int64_t kMaxTrials = 1'000;
constexpr int kRungs = 3;

// ---- reading ----------------------------------------------------------------------------------

using TuneForm = Form<TuneSpec>;

const TuneForm& tune_form() {
  static const TuneForm form =
      TuneForm()
          .integer("trials", &TuneSpec::trials, 1, kMaxTrials, "points that are tried")
          .number("budget_s", &TuneSpec::budget_s, 1e-6, 1e9,
                  "seconds of answer time, of all trials together")
          .number("wall_s", &TuneSpec::wall_s, 1e-6, 1e9,
                  "seconds of wall time after loading, of all trials together")
          .integer("eta", &TuneSpec::eta, 1, 10, "one in so many goes on to more epochs; 1: all")
          .integer("seed", &TuneSpec::seed, 0, INT64_MAX, "seed of the draws")
          .field({"metric",
                  "on the validation part; by default the RMSE, of implicit feedback ndcg_100",
                  metric_schema(MetricUse::search), nullptr},
                 read_metric("metric", &TuneSpec::metric, MetricUse::search));
  return form;
}

// The values of one parameter, read under the path of `over`: with the messages of its own table.
class SearchedParam {
 public:
  SearchedParam(const AlgorithmInfo& algorithm, const std::string& name, std::string path)
      : name_(name), path_(std::move(path)) {
    if (name == kRate) {
      spec_ = ParamSpec::number(kRate, 0, 0, kMaxLearningRate, "");
      return;
    }
    for (const auto& one : algorithm.params) {
      if (one.name == name) spec_ = one;
    }
    spec_.silent_value.reset();  // a requested value is always stated
  }

  Json read(const Json& value) const {
    const Json object = {{name_, value}};
    JsonReader reader(object, path_);
    return read_params({spec_}, reader).to_json().at(name_);
  }

  const ParamSpec& spec() const { return spec_; }
  std::string where() const { return path_ + "." + name_; }

 private:
  std::string name_, path_;
  ParamSpec spec_;
};

[[noreturn]] void fail_range(const SearchedParam& values, const Json& found) {
  const bool numbers = values.spec().type == ParamSpec::Type::number ||
                       values.spec().type == ParamSpec::Type::integer;
  fail(ErrorKind::usage, "{}: found {}, expected {}", values.where(), describe(found),
       numbers ? R"([low, high], [low, high, "log"] or {"choices": [...]})"
               : R"({"choices": [...]}: it has no order)");
}

std::vector<Json> read_choices(const SearchedParam& values, const Json& given) {
  JsonReader reader(given, values.where());
  const Json& list = reader.require("choices");
  reader.finish();
  if (!list.is_array() || list.empty()) {
    fail(ErrorKind::usage, "{}.choices: found {}, expected a list of values", values.where(),
         describe(list));
  }
  std::vector<Json> choices;
  for (const Json& one : list) {
    choices.push_back(values.read(one));
    if (std::count(choices.begin(), choices.end(), choices.back()) > 1) {
      fail(ErrorKind::usage, "{}.choices: {} appears twice", values.where(), one.dump());
    }
  }
  return choices;
}

TuneRange read_range(const SearchedParam& values, const std::string& name, const Json& given) {
  const ParamSpec& spec = values.spec();
  TuneRange range;
  range.name = name;
  range.whole = spec.type == ParamSpec::Type::integer;
  range.least = spec.min;
  range.most = spec.max;
  if (given.is_object()) {
    range.choices = read_choices(values, given);
    return range;
  }
  const bool number = range.whole || spec.type == ParamSpec::Type::number;
  const bool two = given.is_array() && (given.size() == 2 || given.size() == 3);
  const bool axis = two && (given.size() == 2 || given[2] == "log" || given[2] == "linear");
  if (!number || !axis || !given[0].is_number() || !given[1].is_number()) {
    fail_range(values, given);
  }
  range.low = values.read(given[0]).get<double>();
  range.high = values.read(given[1]).get<double>();
  range.log = given.size() == 3 && given[2] == "log";
  if (!(range.low < range.high)) {
    fail(ErrorKind::usage, "{}: found {}, expected a low end below the high one", values.where(),
         given.dump());
  }
  if (range.log && range.low <= 0) {
    fail(ErrorKind::usage, "{}: found {}, expected a low end above 0 on a logarithmic axis",
         values.where(), given.dump());
  }
  return range;
}

std::vector<TuneRange> read_over(const Json& over, const std::string& path,
                                 const AlgorithmInfo& algorithm) {
  JsonReader reader(over, path);
  for (const auto& one : algorithm.params) {
    if (!one.fixed) reader.find(one.name);
  }
  if (algorithm.uses_learning_rate) {
    reader.find(kRate);
  } else if (over.contains(kRate)) {
    fail(ErrorKind::usage, "{}.{}: {} has no learning rate", path, kRate, algorithm.name);
  }
  Problems problems;
  problems.attempt([&] { reader.finish(); });
  if (over.empty()) {
    fail(ErrorKind::usage,
         "{}: names no parameter; expected for example \"reg\": [0.01, 0.2, "
         "\"log\"]",
         path);
  }
  std::vector<TuneRange> ranges;
  for (const auto& [name, given] : over.items()) {
    if (problems.names(path + "." + name)) continue;
    problems.attempt([&, &name = name, &given = given] {
      ranges.push_back(read_range(SearchedParam(algorithm, name, path), name, given));
    });
  }
  problems.raise();
  return ranges;
}

Json range_info() {
  const Json number = {{"type", "number"}};
  const Json axis = {{"enum", Json::array({"linear", "log"})}};
  const Json range = {{"type", "array"},
                      {"prefixItems", Json::array({number, number, axis})},
                      {"minItems", 2},
                      {"maxItems", 3}};
  const Json choices = {
      {"type", "object"},
      {"properties", {{"choices", {{"type", "array"}, {"minItems", 1}, {"uniqueItems", true}}}}},
      {"required", Json::array({"choices"})},
      {"additionalProperties", false}};
  return {{"anyOf", Json::array({range, choices})}};
}

// ---- drawing ----------------------------------------------------------------------------------

// In [0, 1): the number of a draw, read at a position of the parameter's own sequence.
double unit(std::uint64_t seed, const std::string& name, std::int64_t number) {
  const std::uint64_t stream = std::stoull(sha256(name).substr(0, 16), nullptr, 16);
  const std::uint64_t base = Rng(seed, stream)();
  const std::uint64_t bits =
      mix64(base + static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15ULL);
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

// Four digits: enough for any parameter, and short enough to be copied into another spec.
double rounded(double value) { return Json::parse(fmt::format("{:.4g}", value)).get<double>(); }

// The number of values; empty for real numbers.
std::optional<std::int64_t> count_values(const TuneRange& range) {
  if (!range.choices.empty()) return std::ssize(range.choices);
  if (!range.whole) return std::nullopt;
  return static_cast<std::int64_t>(range.high - range.low) + 1;
}

// How many points there are, or empty if they are more than `limit`.
std::optional<std::int64_t> count_points(const std::vector<TuneRange>& over, std::int64_t limit) {
  std::int64_t count = 1;
  for (const auto& range : over) {
    const auto values = count_values(range);
    if (!values || *values > limit / count) return std::nullopt;
    count *= *values;
  }
  return count;
}

Json nth_value(const TuneRange& range, std::int64_t n) {
  if (!range.choices.empty()) return range.choices.at(static_cast<std::size_t>(n));
  return static_cast<std::int64_t>(range.low) + n;
}

// All of them, the last parameter varying fastest.
std::vector<Json> all_points(const std::vector<TuneRange>& over, std::int64_t count) {
  std::vector<Json> points(static_cast<std::size_t>(count), Json::object());
  std::int64_t each = count;
  for (const auto& range : over) {
    const std::int64_t values = *count_values(range);
    each /= values;
    std::int64_t i = 0;
    for (Json& point : points) point[range.name] = nth_value(range, i++ / each % values);
  }
  return points;
}

// For a value within the range, from 0 to 1.
double place_of(const TuneRange& range, double value) {
  if (!range.log) return (value - range.low) / (range.high - range.low);
  return std::log(value / range.low) / std::log(range.high / range.low);
}

}  // namespace

Json TuneRange::to_json() const {
  if (!choices.empty()) return {{"choices", choices}};
  Json json = Json::array();
  for (const double end : {low, high}) {
    json.push_back(whole ? Json(static_cast<std::int64_t>(end)) : Json(end));
  }
  if (log) json.push_back("log");
  return json;
}

Json TuneSpec::to_json() const {
  Json ranges = Json::object();
  for (const auto& range : over) ranges[range.name] = range.to_json();
  Json json = {{"trials", trials}, {"over", ranges}, {"eta", eta}, {"seed", seed}};
  if (budget_s) json["budget_s"] = *budget_s;
  if (wall_s) json["wall_s"] = *wall_s;
  if (metric) json["metric"] = metric->key();
  return json;
}

TuneSpec parse_tune(const Json& json, const std::string& path, const AlgorithmInfo& algorithm) {
  JsonReader reader(json, path);
  TuneSpec tune;
  Problems problems;
  const Json* over = nullptr;
  problems.attempt([&] { over = &reader.require("over"); });
  tune_form().parse_into(reader, tune, problems);
  problems.attempt([&] {
    if (over != nullptr) tune.over = read_over(*over, path + ".over", algorithm);
  });
  problems.raise();
  return tune;
}

FieldInfo tune_info() {
  FormInfo form = tune_form().info();
  form.fields.insert(
      form.fields.begin(),
      {"over",
       "parameters of the algorithm and learning_rate: the values they are drawn from",
       {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", range_info()}},
       nullptr,
       true});
  return {"tune",      "what a search on the validation part chooses",
          nullptr,     std::make_shared<const FormInfo>(std::move(form)),
          false,       false,
          Sweep::never};
}

Json value_along(const TuneRange& range, double u) {
  if (!range.choices.empty()) {
    const auto count = static_cast<double>(range.choices.size());
    return range.choices[static_cast<std::size_t>(u * count)];
  }
  // An integer has the stretch up to the next one.
  const double end = range.whole ? range.high + 1 : range.high;
  const double value =
      range.log ? range.low * std::pow(end / range.low, u) : range.low + u * (end - range.low);
  if (!range.whole) return std::clamp(rounded(value), range.low, range.high);
  // On a logarithmic axis the low end itself may come out a rounding below.
  return static_cast<std::int64_t>(std::clamp(std::floor(value), range.low, range.high));
}

// By chance: a budget that ends the search early then leaves out some of each value, and not the
// last values of the first parameter.
std::vector<Json> in_random_order(std::vector<Json> points, std::uint64_t seed) {
  std::vector<std::pair<double, Json>> drawn;
  for (auto& point : points) {
    const double place = unit(seed, canonical(point), 0);
    drawn.emplace_back(place, std::move(point));
  }
  std::stable_sort(drawn.begin(), drawn.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(drawn.begin(), drawn.end(), points.begin(),
                 [](auto& one) { return std::move(one.second); });
  return points;
}

std::vector<Json> draw_points(const TuneSpec& tune) {
  if (const auto count = count_points(tune.over, tune.trials)) {
    return in_random_order(all_points(tune.over, *count), tune.seed);
  }
  constexpr std::int64_t kDraws = 100;  // for each point: a narrow range has few of four digits
  std::vector<Json> points;
  std::set<std::string> known;
  for (std::int64_t number = 0; std::ssize(points) < tune.trials && number < kDraws * tune.trials;
       ++number) {
    Json point = Json::object();
    for (const auto& range : tune.over) {
      point[range.name] = value_along(range, unit(tune.seed, range.name, number));
    }
    if (known.insert(canonical(point)).second) points.push_back(std::move(point));
  }
  return points;
}

std::vector<std::int64_t> rung_epochs(std::int64_t epochs, std::int64_t eta) {
  std::vector<std::int64_t> rungs;
  for (int left = kRungs - 1; left >= 0; --left) {
    const double share = static_cast<double>(epochs) / std::pow(static_cast<double>(eta), left);
    const std::int64_t rung = std::clamp<std::int64_t>(std::llround(share), 1, epochs);
    if (rungs.empty() || rung > rungs.back()) rungs.push_back(rung);
  }
  return rungs;
}

std::int64_t count_runs(std::int64_t trials, std::int64_t eta, std::size_t rungs) {
  std::int64_t runs = 0;
  for (std::size_t rung = 0; rung < rungs; ++rung, trials = survivors(trials, eta)) runs += trials;
  return runs;
}

std::vector<std::string> on_edges(const std::vector<TuneRange>& over, const Json& values) {
  std::vector<std::string> names;
  for (const auto& range : over) {
    if (!range.choices.empty()) continue;
    const double place = place_of(range, values.at(range.name).get<double>());
    const bool low = place <= kEdge && range.low > range.least;
    const bool high = place >= 1 - kEdge && range.high < range.most;
    if (low || high) names.push_back(range.name);
  }
  return names;
}

}  // namespace mf
