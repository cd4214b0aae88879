#include "harness/spec.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "datasets/load.hpp"

namespace mf {
namespace {

constexpr std::size_t kMaxCases = 100'000;

// Adds nothing to values that are no object or list of a sweep: scalars stand for themselves.
std::vector<Json> expand_value(const Json& value) {
  if (value.is_object()) return expand_sweeps(value);
  if (!value.is_array()) return {value};
  std::vector<Json> all;
  for (const auto& element : value) {
    for (auto& expanded : expand_value(element)) all.push_back(std::move(expanded));
  }
  return all;
}

struct DataEntry {
  DatasetRequest request;
  SplitSpec split;
  bool split_seed_given = false;
  Json request_json;  // the entry without its split
};

SplitSpec parse_split(const Json& json, const std::string& path, bool& seed_given) {
  SplitSpec split;
  JsonReader reader(json, path);
  const bool holdout = reader.find("holdout") != nullptr;
  const bool leave_out = reader.find("leave_out") != nullptr;
  const bool given = reader.find("given") != nullptr;
  if (int{holdout} + int{leave_out} + int{given} > 1) {
    fail(ErrorKind::usage, "{}: expected one of \"holdout\", \"leave_out\" and \"given\"", path);
  }
  if (holdout) split.test_fraction = reader.number("holdout", 0.2, 1e-9, 0.999999);
  if (leave_out) {
    split.kind = SplitSpec::Kind::leave_out;
    split.leave_out = static_cast<int>(reader.integer("leave_out", 1, 1, 1'000'000));
  }
  if (given) {
    split.kind = SplitSpec::Kind::given;
    reader.string("given", "");
  }
  split.validation_fraction = reader.number("validation", 0, 0, 0.9);
  seed_given = reader.find("seed") != nullptr;
  split.seed = static_cast<std::uint64_t>(reader.integer("seed", 1, 0, INT64_MAX));
  reader.finish();
  return split;
}

DataEntry parse_data_entry(const Json& json, const std::string& path, const Json* default_split) {
  Json object = expand_dataset_entry(json);
  const bool own_split = object.is_object() && object.contains("split");
  if (object.is_object() && !own_split && default_split != nullptr) {
    object["split"] = *default_split;
  }
  DataEntry entry;
  JsonReader reader(object, path);
  entry.request = parse_dataset_request(reader);
  if (const Json* split = reader.find("split")) {
    const std::string where = own_split ? reader.path("split") : "$.split";
    entry.split = parse_split(*split, where, entry.split_seed_given);
    if (own_split && !entry.request.train.empty() &&
        (split->contains("holdout") || split->contains("leave_out"))) {
      fail(ErrorKind::usage, "{}: the files \"train\" and \"test\" are the split; leave it out",
           where);
    }
  }
  if (!entry.request.train.empty()) entry.split.kind = SplitSpec::Kind::given;
  reader.finish();
  entry.request_json = object;
  entry.request_json.erase("split");
  if (!entry.request.given.empty()) entry.request_json["given"] = entry.request.given;
  return entry;
}

EvaluateSpec parse_evaluate(const Json* json) {
  EvaluateSpec evaluate;
  if (json == nullptr) return evaluate;
  JsonReader reader(*json, "$.evaluate");
  evaluate.every = reader.integer("every", 1, 1, 1'000'000'000);
  evaluate.train = reader.boolean("train", false);
  evaluate.clip = reader.boolean("clip", false);
  evaluate.user_groups = reader.integer("user_groups", 0, 0, 1000);
  reader.finish();
  return evaluate;
}

const std::vector<std::pair<std::string, InitKind>> kInitKinds = {
    {"normal", InitKind::normal},
    {"uniform", InitKind::uniform},
    {"normal_over_factors", InitKind::normal_over_factors}};

std::string name_of(InitKind kind) {
  for (const auto& [name, known] : kInitKinds) {
    if (known == kind) return name;
  }
  return "normal";
}

InitSpec parse_init(const Json* json, const std::string& path, ModelKind model) {
  InitSpec init;
  init.kind = model == ModelKind::plain ? InitKind::uniform : InitKind::normal;
  if (json == nullptr) return init;
  JsonReader reader(*json, path);
  std::vector<std::string> names;
  for (const auto& [name, kind] : kInitKinds) names.push_back(name);
  const std::string chosen = reader.choice("kind", name_of(init.kind), names);
  for (const auto& [name, kind] : kInitKinds) {
    if (name == chosen) init.kind = kind;
  }
  if (init.kind != InitKind::uniform) {
    const double fallback = init.kind == InitKind::normal ? 0.1 : 1.0;
    init.scale = reader.number("scale", fallback, 0, 1e6);
  }
  reader.finish();
  return init;
}

// Keys of the spec that an algorithm entry may override; an entry without its own inherits them,
// and messages then name the place they came from.
const std::vector<std::string> kInheritable = {"schedule", "init", "stop"};
using Inherited = std::set<std::string>;

std::string origin(const JsonReader& reader, const Inherited& inherited, const std::string& key) {
  return inherited.count(key) != 0 ? "$." + key : reader.path(key);
}

struct AlgorithmEntry {
  std::string name;
  std::string path;
  Params params;
  ScheduleSpec schedule;
  InitSpec init;
  StopSpec stop;
};

ScheduleSpec read_schedule(JsonReader& reader, const Inherited& inherited) {
  const Json* own = reader.find("schedule");
  Json schedule = own != nullptr ? *own : Json::object();
  const std::string path = origin(reader, inherited, "schedule");
  const Json* rate = reader.find("learning_rate");
  if (rate == nullptr || !schedule.is_object()) return parse_schedule(schedule, path);
  schedule["learning_rate"] = *rate;
  return parse_schedule(schedule, reader.where());
}

AlgorithmEntry parse_algorithm(const Json& json, const std::string& path,
                               const Inherited& inherited) {
  AlgorithmEntry entry;
  entry.path = path;
  JsonReader reader(json, path);
  reader.require("name");
  entry.name = reader.string("name", "");
  const AlgorithmInfo* info = nullptr;
  try {
    info = &find_algorithm(entry.name);
  } catch (const Error& error) {
    fail(ErrorKind::usage, "{}: {}", reader.path("name"), error.what());
  }
  entry.params = read_params(info->params, reader);
  entry.schedule = read_schedule(reader, inherited);
  entry.init =
      parse_init(reader.find("init"), origin(reader, inherited, "init"), model_kind(entry.params));
  const Json* stop = reader.find("stop");
  entry.stop =
      parse_stop(stop != nullptr ? *stop : Json::object(), origin(reader, inherited, "stop"));
  reader.finish();
  return entry;
}

std::string slug(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (plain) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  return out.substr(0, 60);
}

Case make_case(const AlgorithmEntry& algorithm, const DataEntry& data, const EvaluateSpec& evaluate,
               std::uint64_t seed) {
  Case item;
  item.path = algorithm.path;
  item.data = data.request;
  item.split = data.split;
  if (!data.split_seed_given) item.split.seed = seed;
  item.algorithm = algorithm.name;
  item.params = algorithm.params;
  item.schedule = algorithm.schedule;
  item.init = algorithm.init;
  item.init.seed = seed;
  item.stop = algorithm.stop;
  item.evaluate = evaluate;
  item.seed = seed;
  item.resolved = {{"dataset", data.request_json},
                   {"split", item.split.to_json()},
                   {"algorithm", item.algorithm},
                   {"params", item.params.to_json()},
                   {"schedule", item.schedule.to_json()},
                   {"init", to_json(item.init)},
                   {"stop", item.stop.to_json()},
                   {"evaluate", item.evaluate.to_json()},
                   {"seed", seed}};
  item.hash = sha256(canonical(item.resolved));
  const std::string factors =
      item.params.has("factors") ? fmt::format("-f{}", item.params.integer("factors")) : "";
  item.id = fmt::format("{}{}-{}-s{}-{}", item.algorithm, factors, slug(item.data.label()), seed,
                        item.hash.substr(0, 10));
  return item;
}

void check_monitors(const Case& item) {
  const bool validation = item.split.validation_fraction > 0 || !item.data.validation.empty();
  const auto check = [&](Monitor monitor, const char* key) {
    if (monitor == Monitor::validation && !validation) {
      fail(ErrorKind::usage,
           "{}.{}.monitor: watches the validation part, but the split of {} has none; add "
           "\"validation\": 0.1 to its split",
           item.path, key, item.data.label());
    }
  };
  check(item.schedule.monitor, "schedule");
  if (item.stop.plateau_patience > 0) check(item.stop.plateau_monitor, "stop.plateau");
}

std::vector<std::uint64_t> parse_seeds(const Json* json) {
  if (json == nullptr) return {1};
  const Json list = json->is_array() ? *json : Json::array({*json});
  std::vector<std::uint64_t> seeds;
  for (const auto& seed : list) {
    if (!seed.is_number_integer() || seed.get<std::int64_t>() < 0) {
      fail(ErrorKind::usage, "$.seeds: found {}, expected a list of integers from 0 up",
           describe(seed));
    }
    if (std::find(seeds.begin(), seeds.end(), seed.get<std::uint64_t>()) != seeds.end()) {
      fail(ErrorKind::usage, "$.seeds: the seed {} stands there twice", seed.get<std::uint64_t>());
    }
    seeds.push_back(seed.get<std::uint64_t>());
  }
  if (seeds.empty()) fail(ErrorKind::usage, "$.seeds: the list is empty; expected [1, 2, 3]");
  return seeds;
}

const Json& non_empty_list(JsonReader& reader, const std::string& key) {
  const Json& list = reader.require(key);
  if (!list.is_array() || list.empty()) {
    fail(ErrorKind::usage, "{}: found {}, expected a list with at least one entry",
         reader.path(key), describe(list));
  }
  return list;
}

std::vector<DataEntry> read_data(JsonReader& reader) {
  const Json* split = reader.find("split");
  std::vector<DataEntry> entries;
  const Json& list = non_empty_list(reader, "datasets");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = fmt::format("$.datasets[{}]", i);
    for (const Json& flat : expand_value(list[i])) {
      entries.push_back(parse_data_entry(flat, path, split));
    }
  }
  return entries;
}

std::vector<AlgorithmEntry> read_algorithms(JsonReader& reader) {
  std::vector<AlgorithmEntry> entries;
  const Json& list = non_empty_list(reader, "algorithms");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = fmt::format("$.algorithms[{}]", i);
    Json object = list[i].is_string() ? Json{{"name", list[i]}} : list[i];
    if (!object.is_object()) {
      fail(ErrorKind::usage, "{}: found {}, expected an object or a name", path, describe(object));
    }
    Inherited inherited;
    for (const auto& key : kInheritable) {
      const Json* fallback = reader.find(key);
      if (fallback == nullptr || object.contains(key)) continue;
      object[key] = *fallback;
      inherited.insert(key);
    }
    for (const Json& flat : expand_sweeps(object)) {
      entries.push_back(parse_algorithm(flat, path, inherited));
    }
    if (entries.size() > kMaxCases) {
      fail(ErrorKind::usage, "{}: the sweeps give more than {} cases", path, kMaxCases);
    }
  }
  return entries;
}

void check_baseline(const Spec& spec, const std::vector<AlgorithmEntry>& algorithms) {
  if (spec.baseline.empty()) return;
  std::vector<std::string> names;
  for (const auto& entry : algorithms) names.push_back(entry.name);
  if (std::find(names.begin(), names.end(), spec.baseline) != names.end()) return;
  const std::string near = nearest(spec.baseline, names);
  fail(ErrorKind::usage, "$.baseline: \"{}\" is not among the algorithms of this spec{}",
       spec.baseline, near.empty() ? "" : "; did you mean \"" + near + "\"?");
}

}  // namespace

std::vector<Json> expand_sweeps(const Json& object) {
  std::vector<Json> all = {Json::object()};
  for (const auto& [key, value] : object.items()) {
    const std::vector<Json> values = expand_value(value);
    if (values.empty()) fail(ErrorKind::usage, "{}: an empty list sweeps over nothing", key);
    std::vector<Json> next;
    for (const Json& start : all) {
      for (const Json& one : values) {
        next.push_back(start);
        next.back()[key] = one;
      }
      if (next.size() > kMaxCases) {
        fail(ErrorKind::usage, "{}: the sweeps give more than {} cases", key, kMaxCases);
      }
    }
    all = std::move(next);
  }
  return all;
}

// A key that came later stands in the JSON only where it is used: hashes of older cases must stay.
Json EvaluateSpec::to_json() const {
  Json json = {{"every", every}, {"train", train}, {"clip", clip}};
  if (user_groups != 0) json["user_groups"] = user_groups;
  return json;
}

Json to_json(const InitSpec& init) {
  if (init.kind == InitKind::uniform) return {{"kind", "uniform"}};
  return {{"kind", name_of(init.kind)}, {"scale", init.scale}};
}

Spec parse_spec(const Json& json, const std::string& file) {
  Spec spec;
  spec.source = json;
  spec.hash = sha256(canonical(json));
  JsonReader reader(json, "$");
  spec.name = slug(reader.string("name", std::filesystem::path(file).stem().string()));
  spec.description = reader.string("description", "");
  spec.baseline = reader.string("baseline", "");
  if (reader.find("target_rmse") != nullptr) {
    spec.target_rmse = reader.number("target_rmse", 0, 0, 1e9);
  }
  spec.save_model = reader.boolean("save_model", false);
  const auto seeds = parse_seeds(reader.find("seeds"));
  const EvaluateSpec evaluate = parse_evaluate(reader.find("evaluate"));
  const auto data = read_data(reader);
  const auto algorithms = read_algorithms(reader);
  reader.finish();
  check_baseline(spec, algorithms);

  std::set<std::string> seen;
  for (const auto seed : seeds) {
    for (const auto& entry : data) {
      for (const auto& algorithm : algorithms) {
        Case item = make_case(algorithm, entry, evaluate, seed);
        check_monitors(item);
        if (seen.insert(item.hash).second) spec.cases.push_back(std::move(item));
      }
    }
  }
  return spec;
}

Spec read_spec(const std::string& path) {
  const Json json = read_json_file(path);
  try {
    return parse_spec(json, path);
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", path, error.what());
  }
}

}  // namespace mf
