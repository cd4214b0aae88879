#include "harness/experiment/spec_forms.hpp"

#include <optional>
#include <set>

#include "algorithms/core/foreign.hpp"
#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/registry.hpp"
#include "harness/experiment/metric_keys.hpp"

namespace mf {
namespace {

using InitForm = Form<StartSpec>;
using AlgorithmForm = Form<AlgorithmEntry>;
using SpecForm = Form<SpecKeys>;

InitForm make_init_form() {
  const char* help = "standard deviation";
  constexpr InitKind StartSpec::*kind = &InitSpec::kind;
  const auto normal = InitForm().number("scale", &InitSpec::scale, 0, 1e6, help, 0.1);
  const auto over_factors =
      InitForm().number("scale", &InitSpec::scale, 0, 1e6, "the same, times the factors", 1.0);
  return InitForm()
      .optional_name("model", &StartSpec::model, "folder of a saved model to start from")
      .kinds("kind", kind, kInitKindNames,
             {{InitKind::normal, normal}, {InitKind::normal_over_factors, over_factors}},
             "distribution of the factors; default by model",
             {InitKind::normal, InitKind::uniform});
}

// ---- algorithms ----

constexpr const char* kPeer = "peer";

// The next words of names that begin with `start`, each once: of "peer:" the libraries, of
// "peer:surprise:" its algorithms.
std::vector<std::string> peer_words(const std::string& start) {
  std::vector<std::string> words;
  for (const auto* info : all_algorithms()) {
    if (!info->name.starts_with(start)) continue;
    const std::string rest = info->name.substr(start.size());
    const std::string word = rest.substr(0, rest.find(':'));
    if (words.empty() || words.back() != word) words.push_back(word);
  }
  return words;
}

FieldInfo info_of(const ParamSpec& param) {
  Json value;
  switch (param.type) {
    case ParamSpec::Type::boolean:
      value = {{"type", "boolean"}};
      break;
    case ParamSpec::Type::integer:
      value = range_schema("integer", static_cast<std::int64_t>(param.min),
                           static_cast<std::int64_t>(param.max));
      break;
    case ParamSpec::Type::number:
      value = range_schema("number", param.min, param.max);
      break;
    case ParamSpec::Type::choice:
      value = {{"enum", param.choices}};
      break;
    case ParamSpec::Type::text:
      value = {{"type", "string"}, {"maxLength", ParamSpec::kLongestText}};
      break;
  }
  std::visit([&](const auto& fallback) { value["default"] = fallback; }, param.fallback);
  return {param.name, param.help + (param.unit.empty() ? "" : " [" + param.unit + "]"), value,
          nullptr};
}

// Which of a library's algorithms a spec has that names none: the only one, or the usual one.
std::optional<std::string> usual_of(const std::string& start,
                                    const std::vector<std::string>& known) {
  if (known.size() == 1) return known.front();
  for (const std::string& one : known) {
    if (find_algorithm(start + one).foreign->usual) return one;
  }
  return std::nullopt;
}

// {"name": "peer", "library": "implicit", "algorithm": "als"} is peer:implicit:als.
std::string read_peer(JsonReader& reader) {
  reader.require("library");
  const auto libraries = peer_words("peer:");
  if (libraries.empty()) {
    fail(ErrorKind::usage,
         "{}: no library is beside this program; MFBENCH_PEER_SCRIPTS names their folder, peers of "
         "the source",
         reader.path("library"));
  }
  const std::string library = reader.choice("library", "", libraries);
  const std::vector<std::string> known = peer_words("peer:" + library + ":");
  const std::optional<std::string> usual = usual_of("peer:" + library + ":", known);
  if (!usual) reader.require("algorithm");
  return "peer:" + library + ":" + reader.choice("algorithm", usual.value_or(known.front()), known);
}

void read_algorithm(JsonReader& reader, AlgorithmEntry& entry) {
  reader.require("name");
  std::string name = reader.string("name", "");
  if (name == kPeer) name = read_peer(reader);
  const AlgorithmInfo* info = nullptr;
  try {
    info = &find_algorithm(name);
  } catch (const Error& error) {
    fail(ErrorKind::usage, "{}: {}", reader.path("name"), error.what());
  }
  entry.name = name;
  entry.params = read_params(info->params, reader);
  const ModelKind model = model_kind(entry.params);
  entry.init.kind = model == ModelKind::plain ? InitKind::uniform : InitKind::normal;
}

// Ranges of the entry's parameters: those that it sets are not searched.
void read_tune(JsonReader& reader, AlgorithmEntry& entry) {
  const Json* json = reader.find("tune");
  if (json == nullptr || entry.name.empty()) return;  // of no algorithm
  const std::string path = reader.path("tune");
  entry.tune = parse_tune(*json, path, find_algorithm(entry.name));
  for (const auto& range : entry.tune->over) {
    if (reader.find(range.name) == nullptr) continue;
    fail(ErrorKind::usage, "{}.over.{}: is set by the entry, too ({}); expected it in one of them",
         path, range.name, reader.path(range.name));
  }
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const auto* info : all_algorithms()) names.push_back(info->name);
  return names;
}

FormInfo params_form(const std::string& algorithm) {
  FormInfo params;
  for (const auto& param : find_algorithm(algorithm).params) {
    if (!param.fixed) params.fields.push_back(info_of(param));
  }
  return params;
}

FieldInfo word_info(const std::string& name, const std::string& help,
                    const std::vector<std::string>& words, bool required) {
  return {name, help, {{"enum", words}}, nullptr, required};
}

// For a "peer": its library selects the algorithms, its algorithm the parameters.
FormInfo peer_form() {
  FormInfo form;
  form.selector = "library";
  const auto libraries = peer_words("peer:");
  form.fields.push_back(word_info("library", "the library of a peer", libraries, true));
  for (const auto& library : libraries) {
    const std::string start = "peer:" + library + ":";
    const auto known = peer_words(start);
    FormInfo algorithms;
    algorithms.selector = "algorithm";
    const std::optional<std::string> usual = usual_of(start, known);
    algorithms.fields.push_back(
        word_info("algorithm", "an algorithm of the library", known, !usual));
    if (usual) algorithms.without = {*usual};
    for (const auto& one : known) algorithms.kinds.push_back({one, params_form(start + one)});
    form.kinds.push_back({library, std::move(algorithms)});
  }
  return form;
}

constexpr std::int64_t kMaxEvery = 1'000'000'000;

const Form<OwnEvaluateSpec>& own_evaluate_form() {
  static const Form<OwnEvaluateSpec> form = Form<OwnEvaluateSpec>().integer(
      "every", &OwnEvaluateSpec::every, 1, kMaxEvery, "epochs between evaluations");
  return form;
}

AlgorithmForm make_algorithm_form() {
  std::vector<NamedForm> kinds;
  for (const auto* info : all_algorithms()) kinds.push_back({info->name, params_form(info->name)});
  kinds.push_back({kPeer, peer_form()});
  std::vector<std::string> names = algorithm_names();
  names.emplace_back(kPeer);
  return AlgorithmForm()
      .select({"name", "name of an algorithm", {{"enum", names}}, nullptr}, read_algorithm,
              std::move(kinds))
      .object("schedule", &AlgorithmEntry::schedule, schedule_form(), "instead of the spec's")
      .number("learning_rate", &AlgorithmEntry::learning_rate, 0, kMaxLearningRate,
              "instead of the schedule's")
      .object("init", &AlgorithmEntry::init, init_form(), "instead of the spec's")
      .object("stop", &AlgorithmEntry::stop, stop_form(), "instead of the spec's")
      .object("evaluate", &AlgorithmEntry::evaluate, own_evaluate_form(),
              "how often, instead of the spec's")
      .field(tune_info(), read_tune)
      .then([](JsonReader& reader, AlgorithmEntry& entry) {
        if (entry.learning_rate) entry.schedule.learning_rate = *entry.learning_rate;
        const AlgorithmInfo& info = find_algorithm(entry.name);
        const bool own = !info.foreign && info.method != Method::closed_form &&
                         entry.params.has("factors") && ranks_of(entry.params) == 1;
        if (own || entry.init.model.empty()) return;
        fail(ErrorKind::usage, "{}.model: found it with {}, expected {}", reader.path("init"),
             entry.name, "an algorithm of mfbench that improves \"factors\", in one process");
      });
}

// ---- the spec ----

const Form<RankingSpec>& ranking_form() {
  static const Form<RankingSpec> form =
      Form<RankingSpec>()
          .integer("users", &RankingSpec::users, 0, 1'000'000'000,
                   "a sample of that many users; 0: all")
          .integer("seed", &RankingSpec::seed, 0, INT64_MAX, "seed of the sample");
  return form;
}

// true, false, or an object, which asks for it, too.
void read_ranking(JsonReader& reader, EvaluateSpec& spec) {
  const Json* json = reader.find("ranking");
  if (json == nullptr) return;
  if (json->is_object()) {
    spec.rank = true;
    spec.ranking = ranking_form().parse(*json, reader.path("ranking"));
    return;
  }
  spec.rank = reader.boolean("ranking", false);
}

void read_metrics(JsonReader& reader, EvaluateSpec& spec) {
  const Json* json = reader.find("metrics");
  if (json == nullptr) return;
  const std::string path = reader.path("metrics");
  if (!json->is_array()) {
    fail(ErrorKind::usage, "{}: found {}, expected a list of metrics", path, describe(*json));
  }
  for (const Json& one : *json) {
    const Json named = {{"metrics", one}};
    const std::string word = JsonReader(named, reader.where()).name("metrics");
    spec.metrics.push_back(parse_metric(word, MetricUse::target, path));
  }
}

Form<EvaluateSpec> make_evaluate_form() {
  return Form<EvaluateSpec>()
      .integer("every", &EvaluateSpec::every, 1, kMaxEvery, "epochs between evaluations")
      .boolean("train", &EvaluateSpec::train, "also the train RMSE")
      .boolean("clip", &EvaluateSpec::clip, "predictions to the rating scale")
      .integer("user_groups", &EvaluateSpec::user_groups, 0, 1000,
               "groups of users whose RMSE is in the footer")
      .field({"ranking",
              "ranking metrics on the test part; by default of implicit feedback only",
              {{"type", "boolean"}},
              ranking_form().shared_info()},
             read_ranking)
      .field({"metrics",
              "further ones to those of every case",
              {{"type", "array"}, {"items", metric_schema(MetricUse::target)}},
              nullptr},
             read_metrics);
}

void read_seeds(JsonReader& reader, SpecKeys& spec) {
  const Json* json = reader.find("seeds");
  if (json == nullptr) return;
  spec.seeds.clear();
  std::set<std::uint64_t> known;
  for (const Json& seed : json->is_array() ? *json : Json::array({*json})) {
    const Json one = {{"seeds", seed}};
    const auto value =
        static_cast<std::uint64_t>(JsonReader(one, "$").integer("seeds", 1, 0, INT64_MAX));
    if (!known.insert(value).second) {
      fail(ErrorKind::usage, "$.seeds: seed {} appears twice", value);
    }
    spec.seeds.push_back(value);
  }
  if (spec.seeds.empty()) fail(ErrorKind::usage, "$.seeds: the list is empty; expected [1, 2, 3]");
}

FieldInfo seeds_info() {
  const Json seed = range_schema("integer", std::int64_t{0}, INT64_MAX);
  const Json list = {{"type", "array"}, {"items", seed}, {"minItems", 1}, {"uniqueItems", true}};
  return {"seeds",
          "a repeat each",
          {{"anyOf", Json::array({seed, list})}, {"default", Json::array({1})}},
          nullptr};
}

void read_name(JsonReader& reader, SpecKeys& spec) { spec.name = reader.string("name", spec.name); }

FieldInfo name_info() {
  return {"name", "name of the folder of the results", {{"type", "string"}}, nullptr};
}

void read_baseline(JsonReader& reader, SpecKeys& spec) {
  spec.baseline = reader.string("baseline", "");
}

FieldInfo baseline_info() {
  std::vector<std::string> names = algorithm_names();
  names.insert(names.begin(), "");
  return {
      "baseline", "the algorithm of this spec that speed-ups are over", {{"enum", names}}, nullptr};
}

std::shared_ptr<const FormInfo> share(FormInfo info) {
  return std::make_shared<const FormInfo>(std::move(info));
}

FieldInfo swept(const std::string& name, const std::string& help,
                std::shared_ptr<const FormInfo> form) {
  return {name, help, nullptr, std::move(form), false, false, Sweep::whole};
}

SpecForm make_spec_form(FormInfo dataset, const Json& dataset_words) {
  return SpecForm()
      .field(name_info(), read_name)
      .text("description", &SpecKeys::description, "copied into the results")
      .field(baseline_info(), read_baseline)
      .number("target_rmse", &SpecKeys::target_rmse, 0, 1e9,
              "figures take the time to this test RMSE; it stops no run")
      .object("target", &SpecKeys::target, target_form(), "the same for any metric")
      .boolean("save_model", &SpecKeys::save_model, "export the model of every completed case")
      .field(seeds_info(), read_seeds)
      .object("evaluate", &SpecKeys::evaluate, make_evaluate_form(), "when and how")
      .raw(&SpecKeys::split, {"split", "split of every data set without its own", nullptr,
                              default_split_form().shared_info()})
      .raw(&SpecKeys::datasets, {"datasets", "names, or objects", dataset_words,
                                 share(std::move(dataset)), true, true, Sweep::whole})
      .raw(&SpecKeys::algorithms, {"algorithms",
                                   "names, or objects with name and parameters",
                                   {{"enum", algorithm_names()}},
                                   algorithm_form().shared_info(),
                                   true,
                                   true,
                                   Sweep::inside})
      .raw(&SpecKeys::schedule,
           swept("schedule", "learning rate of every algorithm without its own",
                 schedule_form().shared_info()))
      .raw(&SpecKeys::init, swept("init", "initial factors of every algorithm without its own",
                                  init_form().shared_info()))
      .raw(&SpecKeys::stop, swept("stop", "stop rules of every algorithm without its own",
                                  stop_form().shared_info()))
      .text("$schema", &SpecKeys::schema, "for editors; ignored");
}

}  // namespace

const Form<StartSpec>& init_form() {
  static const InitForm form = make_init_form();
  return form;
}

const Form<AlgorithmEntry>& algorithm_form() {
  static const AlgorithmForm form = make_algorithm_form();
  return form;
}

const Form<SpecKeys>& spec_form() {
  static const SpecForm form = make_spec_form({}, nullptr);
  return form;
}

FormInfo spec_form_info() {
  return make_spec_form(dataset_form_info(), dataset_word_schema()).info();
}

}  // namespace mf
