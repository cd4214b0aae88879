// Every algorithm of every library as one of mfbench's: peer:LIBRARY:ALGORITHM.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "algorithms/core/declared_param.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/threads_param.hpp"
#include "algorithms/peer/libraries.hpp"
#include "algorithms/peer/places.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kForm = "peer.json";

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
  if (all.empty()) {
    fail(ErrorKind::usage, "{}: found no entry, expected at least one", named.where());
  }
  for (const auto& [name, value] : all.items()) {
    check_name(name, named.path(name));
    JsonReader one(value, named.path(name));
    read(name, one);
    one.finish();
  }
}

// Limits that end a peer.
std::vector<ParamSpec> limits() {
  return {
      ParamSpec::number("scratch_gb", 0, 0, 1e6,
                        "the most that it may write; 0: nine tenths of what is free there", "GiB")
          .silent(),
      ParamSpec::number("timeout_s", 3600, 0.1, 1e7, "the longest wait for an answer", "s"),
      ParamSpec::number("memory_gb", 0, 0, 1e6,
                        "the most memory of its processes; 0: nine tenths of what is available",
                        "GiB")};
}

std::vector<ParamSpec> read_params(JsonReader& reader) {
  const std::vector<std::string> taken = {
      "name", "library", "algorithm", "schedule",   "learning_rate", "init",     "stop",
      "tune", "threads", "program",   "scratch_gb", "timeout_s",     "memory_gb"};
  std::vector<ParamSpec> params;
  read_each(reader, "params", [&](const std::string& name, JsonReader& one) {
    if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
      fail(ErrorKind::usage, "{}: an entry of a spec has this key already, expected another name",
           one.where());
    }
    params.push_back(read_declared_param(name, one));
  });
  expect_param(params, "factors", ParamSpec::Type::integer, reader.path("params"));
  return params;
}

void read_memory(JsonReader& of, PeerAlgorithm& algorithm) {
  if (of.find("memory") == nullptr) return;
  JsonReader reader(of.require("memory"), of.path("memory"));
  reader.require("base_bytes");
  for (const char* key : {"base_bytes", "of_rating", "of_number", "of_row", "of_batch_number",
                          "kept_of_rating", "kept_of_number"}) {
    algorithm.memory[key] = reader.number(key, 0, 0, 1e15);
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
  if (!alpha.empty()) expect_param(params, alpha, ParamSpec::Type::number, reader.path("alpha"));
  expect_param(params, reg, ParamSpec::Type::number, reader.path("reg"));
  const double exponent = reader.number("reg_exponent", 0, 0, 10);
  const bool others = reader.boolean("others_count", true);
  reader.finish();
  return [=](const Params& values) {
    const double weight = alpha.empty() ? 1 : values.number(alpha);
    return ImplicitLoss{weight, values.number(reg), exponent, others};
  };
}

void read_algorithm(const PeerLibrary& library, PeerAlgorithm& algorithm, JsonReader& reader) {
  AlgorithmInfo& info = algorithm.info;
  info.name = fmt::format("peer:{}:{}", library.name, algorithm.name);
  info.family = "peer";
  info.title = "Other people's libraries";
  info.summary = library.name + ": " + reader.name("summary");
  info.paper = reader.name("paper");
  reader.require("method");
  info.method = *kMethods.find(reader.choice("method", "", kMethods.all()));
  info.deterministic = reader.boolean("deterministic", false);
  info.uses_learning_rate = reader.boolean("uses_learning_rate", false);
  algorithm.foreign.repeats_epochs = !reader.boolean("each_epoch", false);
  algorithm.foreign.usual = reader.boolean("usual", false);
  algorithm.foreign.takes_test = reader.boolean("takes_test", false);
  info.params = read_params(reader);
  info.implicit = read_implicit(reader, info.params);
  algorithm.changes_rate = reader.boolean("changes_rate", false);
  read_memory(reader, algorithm);
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

ProcessNeed process_need(const PeerAlgorithm& algorithm, const Params& params,
                         const ProblemShape& shape) {
  ProcessNeed need;
  need.limit_bytes = params.number("memory_gb") * (1 << 30);
  if (algorithm.memory.empty()) {
    need.unknown = params.has("program") ? "a program of one's own takes what it takes"
                                         : "its peer.json says nothing of its memory";
    return need;
  }
  const auto nnz = static_cast<double>(shape.nnz), rows = shape.rows(),
             factors = static_cast<double>(params.integer("factors"));
  const auto batch = params.has("batch") ? std::min(params.integer("batch"), shape.nnz) : 0;
  const auto of = [&](const char* key) { return algorithm.memory.at(key); };
  need.bytes = of("base_bytes") + of("of_rating") * nnz + of("of_row") * rows +
               of("of_number") * rows * factors +
               of("of_batch_number") * factors * static_cast<double>(batch);
  need.of_further_point = of("kept_of_rating") * nnz + of("kept_of_number") * rows * factors;
  need.unknown = on_device(params) ? "the GPU's memory, and what CUDA takes of the host"
                                   : algorithm.not_counted;
  return need;
}

std::optional<std::string> why_unsupported(const PeerLibrary& library, const Params& params) {
  if (auto why = peer::why_no_adapter(library.folder, library.environment)) return why;
  try {
    if (library.is_program) peer::find_program(params.text("program"));
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

AlgorithmInfo info_of(const PeerLibrary& library, const PeerAlgorithm& algorithm) {
  AlgorithmInfo info = algorithm.info;
  ForeignInfo foreign = algorithm.foreign;
  foreign.process = [&](const Params& params, const ProblemShape& shape) {
    return process_need(algorithm, params, shape);
  };
  info.foreign = std::make_shared<const ForeignInfo>(std::move(foreign));
  // A model to read and one to keep; the process has the rest.
  info.memory = [](const Params&) { return MemoryUse{.host = {.number = 12, .row = 12}}; };
  info.supports = [&library](const Params& params, const ProblemShape&) {
    return why_unsupported(library, params);
  };
  return info;
}

const RegisterSource registered([] {
  for (const auto& library : peer_libraries()) {
    for (const auto& algorithm : library.algorithms) register_info(info_of(library, algorithm));
  }
});

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
  library.environment =
      reader.string("environment", library.is_program ? "programs" : library.name);
  check_name(library.environment, reader.path("environment"));
  reader.choice("hardware", "cpu", {"cpu", "cuda", "cpu or cuda"});  // the figures ask for it
  std::vector<ParamSpec> first, last = limits();
  if (library.is_program) {
    first = {ParamSpec::text("program", "its path, in a folder that MFBENCH_PROGRAMS names")};
  }
  if (reader.boolean("threads", true)) last.insert(last.begin(), threads_param());
  PeerAlgorithm usual;
  read_memory(reader, usual);
  read_each(reader, "algorithms", [&](const std::string& name, JsonReader& one) {
    PeerAlgorithm algorithm = usual;
    algorithm.name = name;
    read_algorithm(library, algorithm, one);
    auto& params = algorithm.info.params;
    params = join_params(join_params(first, params), last);
    library.algorithms.push_back(std::move(algorithm));
  });
  reader.finish();
  return library;
}

const std::vector<PeerLibrary>& peer_libraries() {
  static const std::vector<PeerLibrary> libraries = read_libraries();
  return libraries;
}

}  // namespace mf
