#include "algorithms/peer/libraries.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "algorithms/core/threads_param.hpp"
#include "algorithms/peer/places.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;
using Type = ParamSpec::Type;

constexpr const char* kForm = "peer.json";
constexpr double kMost = 1e15;  // of a range, and of bytes
constexpr Names kTypes{std::to_array<Named<Type>>({{"boolean", Type::boolean},
                                                   {"integer", Type::integer},
                                                   {"number", Type::number},
                                                   {"choice", Type::choice},
                                                   {"text", Type::text}})};

template <class E, std::size_t kCount>
E read_word(JsonReader& reader, const std::string& key, const Names<E, kCount>& names) {
  reader.require(key);
  return *names.find(reader.choice(key, "", names.all()));
}

std::vector<std::string> read_words(const Json& list, const std::string& where) {
  const auto is_word = [](const Json& one) { return one.is_string(); };
  if (!list.is_array() || list.empty() || !std::all_of(list.begin(), list.end(), is_word)) {
    fail(ErrorKind::usage, "{}: found {}, expected a list of strings", where, describe(list));
  }
  return list.get<std::vector<std::string>>();
}

// Names become parts of specs, files and commands.
void check_name(const std::string& name, const std::string& where) {
  const auto plain = [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; };
  if (!name.empty() && std::all_of(name.begin(), name.end(), plain)) return;
  fail(ErrorKind::usage, "{}: found {}, expected a name of a to z, 0 to 9 and _", where,
       in_quotes(name));
}

// An object of objects, each by a reader of its own.
template <class Read>
void read_each(JsonReader& reader, const std::string& key, const Read& read) {
  const Json& all = reader.require(key);
  const JsonReader named(all, reader.path(key));
  if (all.empty())
    fail(ErrorKind::usage, "{}: found no entry, expected at least one", named.where());
  for (const auto& [name, value] : all.items()) {
    check_name(name, named.path(name));
    JsonReader one(value, named.path(name));
    read(name, one);
    one.finish();
  }
}

// ---- parameters ---------------------------------------------------------------------------------

// What every peer has: who computes, and what ends one that does not behave.
std::vector<ParamSpec> common_params() {
  return {
      threads_param(),
      ParamSpec::number("scratch_gb", 0, 0, 1e6,
                        "the most that it may write; 0: nine tenths of what is free there", "GiB")
          .silent(),
      ParamSpec::number("timeout_s", 3600, 0.1, 1e7, "the longest wait for an answer", "s"),
      ParamSpec::number("memory_gb", 0, 0, 1e6,
                        "the most memory of its processes; 0: nine tenths of what is available",
                        "GiB")};
}

ParamSpec program_param() {
  return ParamSpec::text("program", "its path, in a folder that MFBENCH_PROGRAMS names");
}

void check_param_name(const std::string& name, const std::string& where) {
  std::vector<std::string> taken = {"name",          "library", "algorithm", "schedule",
                                    "learning_rate", "init",    "stop",      "tune"};
  for (const auto& spec : common_params()) taken.push_back(spec.name);
  taken.push_back(program_param().name);
  if (std::find(taken.begin(), taken.end(), name) == taken.end()) return;
  fail(ErrorKind::usage, "{}: an entry of a spec has this key already, expected another name",
       where);
}

void read_range(JsonReader& reader, ParamSpec& spec) {
  for (const char* key : {"min", "max"}) reader.require(key);
  spec.min = reader.number("min", 0, -kMost, kMost);
  spec.max = reader.number("max", 0, spec.min, kMost);
  if (spec.type == Type::number) {
    spec.fallback = reader.number("default", 0, spec.min, spec.max);
  } else {
    spec.fallback = reader.integer("default", 0, static_cast<std::int64_t>(spec.min),
                                   static_cast<std::int64_t>(spec.max));
  }
}

ParamSpec read_param(const std::string& name, JsonReader& reader) {
  check_param_name(name, reader.where());
  ParamSpec spec;
  spec.name = name;
  spec.type = read_word(reader, "type", kTypes);
  reader.require("default");
  if (spec.type == Type::boolean) {
    spec.fallback = reader.boolean("default", false);
  } else if (spec.type == Type::text) {
    spec.fallback = reader.string("default", "");
  } else if (spec.type == Type::choice) {
    spec.choices = read_words(reader.require("choices"), reader.path("choices"));
    spec.fallback = reader.choice("default", "", spec.choices);
  } else {
    read_range(reader, spec);
  }
  spec.unit = reader.string("unit", "");
  spec.help = reader.name("help");
  spec.silent_default = reader.boolean("silent", false);
  if (const Json* where = reader.find("where")) {
    const JsonReader conditions(*where, reader.path("where"));
    for (const auto& [other, values] : where->items()) {
      spec.conditions.emplace_back(other, read_words(values, conditions.path(other)));
    }
  }
  return spec;
}

void check_param(const std::vector<ParamSpec>& params, const std::string& name, Type type,
                 const std::string& where) {
  const auto is_it = [&](const auto& spec) { return spec.name == name && spec.type == type; };
  if (std::any_of(params.begin(), params.end(), is_it)) return;
  fail(ErrorKind::usage, "{}: expected {} among the parameters, of the type {}", where,
       in_quotes(name), kTypes.of(type));
}

std::vector<ParamSpec> read_params(JsonReader& reader) {
  std::vector<ParamSpec> params;
  read_each(reader, "params",
            [&](const auto& name, JsonReader& one) { params.push_back(read_param(name, one)); });
  check_param(params, "factors", Type::integer, reader.path("params"));
  for (const auto& spec : params) {
    for (const auto& [other, values] : spec.conditions) {
      check_param(params, other, Type::choice, reader.path("params") + "." + spec.name + ".where");
    }
  }
  return params;
}

// ---- an algorithm, a library --------------------------------------------------------------------

void read_memory(JsonReader& of, PeerAlgorithm& algorithm) {
  if (of.find("memory") == nullptr) return;
  JsonReader reader(of.require("memory"), of.path("memory"));
  reader.require("base_bytes");
  for (const char* key : {"base_bytes", "of_rating", "of_number", "of_row", "of_batch_number",
                          "kept_of_rating", "kept_of_number"}) {
    algorithm.memory[key] = reader.number(key, 0, 0, kMost);
  }
  algorithm.limits_addresses = reader.boolean("limits_addresses", false);
  algorithm.not_counted = reader.string("not_counted", "");
  reader.finish();
}

// The parameters of our loss, and how its L2 grows with a row.
std::function<ImplicitLoss(const Params&)> read_implicit(JsonReader& of,
                                                         const std::vector<ParamSpec>& params) {
  if (of.find("implicit") == nullptr) return nullptr;
  JsonReader reader(of.require("implicit"), of.path("implicit"));
  const std::string alpha = reader.string("alpha", ""), reg = reader.name("reg");
  if (!alpha.empty()) check_param(params, alpha, Type::number, reader.path("alpha"));
  check_param(params, reg, Type::number, reader.path("reg"));
  const double exponent = reader.number("reg_exponent", 0, 0, 10);
  const bool others = reader.boolean("others_count", true);
  reader.finish();
  return [=](const Params& values) {
    const double weight = alpha.empty() ? 1 : values.number(alpha);
    return ImplicitLoss{weight, values.number(reg), exponent, others};
  };
}

PeerAlgorithm read_algorithm(const PeerLibrary& library, PeerAlgorithm algorithm,
                             const std::string& name, JsonReader& reader) {
  algorithm.name = name;
  AlgorithmInfo& info = algorithm.info;
  info.name = fmt::format("peer:{}:{}", library.name, name);
  info.family = "peer";
  info.title = "Other people's libraries";
  info.summary = library.name + ": " + reader.name("summary");
  info.paper = reader.name("paper");
  info.method = read_word(reader, "method", kMethods);
  info.deterministic = reader.boolean("deterministic", false);
  info.uses_learning_rate = reader.boolean("uses_learning_rate", false);
  algorithm.foreign.repeats_epochs = !reader.boolean("each_epoch", false);
  algorithm.foreign.usual = reader.boolean("usual", false);
  algorithm.foreign.takes_test = reader.boolean("takes_test", false);
  info.params = read_params(reader);
  info.implicit = read_implicit(reader, info.params);
  algorithm.changes_rate = reader.boolean("changes_rate", false);
  read_memory(reader, algorithm);
  return algorithm;
}

std::vector<PeerLibrary> read_libraries() {
  std::vector<PeerLibrary> all;
  for (const auto& top : peer::peers_folders()) {
    std::error_code error;
    for (fs::directory_iterator at(top, error), end; !error && at != end; at.increment(error)) {
      if (is_taken(at->path() / kForm)) all.push_back(read_peer_library(at->path().string()));
    }
    if (error) fail(ErrorKind::usage, "{}: no folder of libraries: {}", top, error.message());
  }
  std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.name < b.name; });
  const auto same =
      std::adjacent_find(all.begin(), all.end(), [](auto& a, auto& b) { return a.name == b.name; });
  if (same == all.end()) return all;
  fail(ErrorKind::usage, "two libraries are named {}: {} and {}; rename one of the folders",
       same->name, same->folder, std::next(same)->folder);
}

// As package indices compare names: "Scikit_Surprise" is "scikit-surprise".
std::string package_name(std::string_view line) {
  std::string name(line.substr(0, line.find_first_of("= @<>")));
  for (char& c : name) c = c == '_' || c == '.' ? '-' : static_cast<char>(std::tolower(c));
  return name;
}

}  // namespace

PeerLibrary read_peer_library(const std::string& folder) {
  const std::string file = folder + "/" + kForm;
  const Json json = read_json_file(file, Origin::found);
  JsonReader reader(json, file + ": $");
  PeerLibrary library;
  library.name = fs::path(folder).filename().string();
  library.folder = folder;
  check_name(library.name, library.folder);
  reader.name("summary");
  library.is_program = reader.boolean("program", false);
  const std::string own = library.is_program ? "programs" : library.name;
  library.environment = reader.string("environment", own);
  check_name(library.environment, reader.path("environment"));
  if (const Json* packages = reader.find("packages")) {
    library.packages = read_words(*packages, reader.path("packages"));
  }
  reader.choice("hardware", "cpu", {"cpu", "cuda", "cpu or cuda"});  // the figures ask for it
  std::vector<ParamSpec> common = common_params();
  if (!reader.boolean("threads", true)) common.erase(common.begin());
  PeerAlgorithm usual;
  read_memory(reader, usual);
  read_each(reader, "algorithms", [&](const std::string& name, JsonReader& one) {
    PeerAlgorithm algorithm = read_algorithm(library, usual, name, one);
    auto& params = algorithm.info.params;
    if (library.is_program) params.insert(params.begin(), program_param());
    params.insert(params.end(), common.begin(), common.end());
    library.algorithms.push_back(std::move(algorithm));
  });
  reader.finish();
  return library;
}

const std::vector<PeerLibrary>& peer_libraries() {
  static const std::vector<PeerLibrary> libraries = read_libraries();
  return libraries;
}

std::optional<std::string> why_not_installed(const PeerLibrary& library) {
  if (auto why = peer::why_no_adapter(library.folder, library.environment)) return why;
  std::vector<std::string> found;
  for (const auto& line : peer::installed_packages(library.environment)) {
    found.push_back(package_name(line));
  }
  for (const auto& package : library.packages) {
    if (found.empty() || std::count(found.begin(), found.end(), package) > 0) continue;
    return fmt::format("{} lacks the package {}: ./dev peers {} installs it", library.environment,
                       package, library.environment);
  }
  return std::nullopt;
}

}  // namespace mf
