// Lists every algorithm of every library as an algorithm of mfbench, peer:LIBRARY:ALGORITHM, and
// finds its adapter, its environment and its program.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

#include "algorithms/core/registry.hpp"
#include "algorithms/core/threads_param.hpp"
#include "algorithms/peer/libraries.hpp"
#include "base/error.hpp"
#include "base/files/open_file.hpp"
#include "base/files/shared_folder.hpp"
#include "base/json/json.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kForm = "peer.json";

std::string variable(const char* name, const std::string& fallback = "") {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : fallback;
}

// A relative path starts in the folder where mfbench was called.
std::string of_caller(const fs::path& path) {
  std::error_code ignored;
  return path.empty() ? "" : fs::absolute(path, ignored).string();
}

// The folder `peers`; empty if there is none.
std::string peers_folder() {
  const std::string own = of_caller(variable("MFBENCH_PEER_SCRIPTS"));
  const auto supervisor = beside_program("peers/common/supervisor.py");
  if (!own.empty() || !supervisor) return own;
  return fs::path(*supervisor).parent_path().parent_path().string();
}

std::string named_python() { return variable("PYTHON", "python3"); }

// PYTHON is a path, or a name to look for as a shell does.
std::string callers_python() {
  const fs::path named = named_python();
  auto folders = named_folders("PATH");
  if (named.has_parent_path()) folders = {"."};
  for (const auto& folder : folders) {
    const std::string found = of_caller(folder / named);  // an absolute path stays as it is
    if (access(found.c_str(), X_OK) == 0) return found;
  }
  return "";
}

// Names become parts of specs, files and commands.
void check_name(const std::string& name, const std::string& where) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyz0123456789_";
  if (!name.empty() && name.find_first_not_of(kPlain) == name.npos) return;
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

constexpr Names kTypes{std::to_array<Named<ParamSpec::Type>>({{"boolean", ParamSpec::Type::boolean},
                                                              {"integer", ParamSpec::Type::integer},
                                                              {"number", ParamSpec::Type::number},
                                                              {"choice", ParamSpec::Type::choice},
                                                              {"text", ParamSpec::Type::text}})};

std::vector<std::string> read_words(JsonReader& reader, const std::string& key) {
  const Json& words = reader.require(key);
  const auto is_word = [](const Json& one) { return one.is_string(); };
  if (words.is_array() && !words.empty() && std::all_of(words.begin(), words.end(), is_word)) {
    return words.get<std::vector<std::string>>();
  }
  fail(ErrorKind::usage, "{}: found {}, expected a list of strings", reader.path(key),
       describe(words));
}

// A parameter that the file declares.
ParamSpec read_param(const std::string& name, JsonReader& reader) {
  constexpr double kMost = 1e15;
  const ParamValue of_type[] = {false, std::int64_t{0}, 0.0, std::string(), std::string()};
  for (const char* key : {"type", "default"}) reader.require(key);
  ParamSpec spec;
  spec.name = "default";
  spec.type = *kTypes.find(reader.choice("type", "", kTypes.all()));
  spec.fallback = of_type[static_cast<std::size_t>(spec.type)];
  if (spec.type == ParamSpec::Type::choice) spec.choices = read_words(reader, "choices");
  if (spec.type == ParamSpec::Type::integer || spec.type == ParamSpec::Type::number) {
    for (const char* key : {"min", "max"}) reader.require(key);
    spec.min = reader.number("min", 0, -kMost, kMost);
    spec.max = reader.number("max", 0, spec.min, kMost);
  }
  spec.fallback = read_value(spec, reader);
  spec.name = name;
  spec.unit = reader.string("unit", "");
  spec.help = reader.name("help");
  if (reader.boolean("silent", false)) spec.silent_value = spec.fallback;
  return spec;
}

// Fails if no parameter has this name and type.
void expect_param(const std::vector<ParamSpec>& params, const std::string& name,
                  ParamSpec::Type type, const std::string& where) {
  const auto is_it = [&](const auto& spec) { return spec.name == name && spec.type == type; };
  if (std::any_of(params.begin(), params.end(), is_it)) return;
  fail(ErrorKind::usage, "{}: expected {} among the parameters, of the type {}", where,
       in_quotes(name), kTypes.of(type));
}

// The limits of every peer. A peer that exceeds one is ended.
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
      const bool rate = name == "learning_rate";
      fail(ErrorKind::usage, "{}: an entry of a spec has this key already, expected {}",
           one.where(),
           rate ? R"(none: "uses_learning_rate": true beside "params" hands it over)"
                : "another name");
    }
    params.push_back(read_param(name, one));
  });
  expect_param(params, "factors", ParamSpec::Type::integer, reader.path("params"));
  return params;
}

// The memory of a peer's process, as measured.
struct PeerMemory {
  std::map<std::string, double> bytes;  // by the keys of docs/peers.md; empty if unknown
  std::string not_counted;              // memory outside these numbers
  bool limits_addresses = false;

  ProcessNeed need(const Params& params, const ProblemShape& shape) const {
    ProcessNeed need;
    need.limit_bytes = params.number("memory_gb") * (1 << 30);
    if (bytes.empty()) {
      need.unknown = params.has("program") ? "a program of one's own takes what it takes"
                                           : "its peer.json says nothing of its memory";
      return need;
    }
    const auto nnz = static_cast<double>(shape.nnz), rows = shape.rows(),
               factors = static_cast<double>(params.integer("factors"));
    const auto batch = params.has("batch") ? std::min(params.integer("batch"), shape.nnz) : 0;
    need.bytes = bytes.at("base_bytes") + bytes.at("of_rating") * nnz + bytes.at("of_row") * rows +
                 bytes.at("of_number") * rows * factors +
                 bytes.at("of_batch_number") * factors * static_cast<double>(batch);
    need.of_further_point =
        bytes.at("kept_of_rating") * nnz + bytes.at("kept_of_number") * rows * factors;
    need.unknown =
        on_device(params) ? "the GPU's memory, and what CUDA takes of the host" : not_counted;
    return need;
  }
};

// The memory that an algorithm declares, or else its library.
PeerMemory read_memory(JsonReader& of, PeerMemory memory = {}) {
  if (of.find("memory") == nullptr) return memory;
  JsonReader reader(of.require("memory"), of.path("memory"));
  reader.require("base_bytes");
  for (const char* key : {"base_bytes", "of_rating", "of_number", "of_row", "of_batch_number",
                          "kept_of_rating", "kept_of_number"}) {
    memory.bytes[key] = reader.number(key, 0, 0, 1e15);
  }
  memory.limits_addresses = reader.boolean("limits_addresses", false);
  memory.not_counted = reader.string("not_counted", "");
  reader.finish();
  return memory;
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

std::optional<std::string> why_unsupported(const PeerLibrary& library, const Params& params) {
  if (auto why = peer::why_no_adapter(library)) return why;
  if (!library.is_program || !peer::find_program(params.text("program")).empty()) return {};
  const auto folders = named_folders("MFBENCH_PROGRAMS");
  return fmt::format(
      "`program`: {} lies in no folder that MFBENCH_PROGRAMS names ({}); a spec by itself "
      "starts no program: set it to the folders whose programs specs may run, separated by colons",
      in_quotes(params.text("program")), folders.empty() ? "it is not set" : join(folders, ":"));
}

PeerAlgorithm read_algorithm(const PeerLibrary& library, const std::string& name,
                             const PeerMemory& usual, JsonReader& reader) {
  PeerAlgorithm algorithm;
  algorithm.name = name;
  AlgorithmInfo& info = algorithm.info;
  info.name = fmt::format("peer:{}:{}", library.name, name);
  info.family = "peer";
  info.title = "Other people's libraries";
  info.summary = library.name + ": " + reader.name("summary");
  info.paper = reader.name("paper");
  reader.require("method");
  info.method = *kMethods.find(reader.choice("method", "", kMethods.all()));
  info.deterministic = reader.boolean("deterministic", false);
  info.uses_learning_rate = reader.boolean("uses_learning_rate", false);
  info.params = read_params(reader);
  info.phases = {"files_for_peer", "start", "convert"};
  info.implicit = read_implicit(reader, info.params);
  // mfbench holds a model to read and a model to keep. The peer's process holds the rest.
  info.memory = [](const Params&) { return MemoryUse{.host = {.number = 12, .row = 12}}; };
  const PeerMemory memory = read_memory(reader, usual);
  algorithm.changes_rate = reader.boolean("changes_rate", false);
  algorithm.limits_addresses = memory.limits_addresses;
  info.foreign = std::make_shared<const ForeignInfo>(ForeignInfo{
      .repeats_epochs = !reader.boolean("each_epoch", false),
      .takes_test = reader.boolean("takes_test", false),
      .usual = reader.boolean("usual", false),
      .hardware = library.hardware,
      .process = [=](auto& params, auto& shape) { return memory.need(params, shape); }});
  return algorithm;
}

std::vector<PeerLibrary> read_libraries() {
  std::vector<std::string> folders;
  if (auto own = peers_folder(); !own.empty()) folders.push_back(std::move(own));
  for (const auto& more : named_folders("MFBENCH_PEERS_PATH")) folders.push_back(of_caller(more));
  std::vector<PeerLibrary> all;
  for (const auto& top : folders) {
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

const RegisterSource registered([] {
  for (const auto& library : peer_libraries()) {
    for (const auto& algorithm : library.algorithms) {
      AlgorithmInfo info = algorithm.info;
      info.supports = [&](const Params& params, auto&) { return why_unsupported(library, params); };
      register_info(std::move(info));
    }
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
  library.hardware = reader.choice("hardware", "cpu", {"cpu", "cuda", "cpu or cuda"});
  std::vector<ParamSpec> first, last = limits();
  if (library.is_program) {
    first = {ParamSpec::text("program", "its path, in a folder that MFBENCH_PROGRAMS names")};
  }
  if (reader.boolean("threads", true)) last.insert(last.begin(), threads_param());
  const PeerMemory memory = read_memory(reader);
  read_each(reader, "algorithms", [&](const std::string& name, JsonReader& one) {
    auto algorithm = read_algorithm(library, name, memory, one);
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

namespace peer {

std::string supervisor_script() { return peers_folder() + "/common/supervisor.py"; }

std::string environments_folder() {
  const std::string own = of_caller(variable("MFBENCH_PEERS")), peers = peers_folder();
  if (!own.empty() || peers.empty()) return own;
  return (fs::path(peers).parent_path() / "build" / "peers").string();
}

std::string python_of(const std::string& environment) {
  if (environment == kCallersPython) return callers_python();
  const std::string python = environments_folder() + "/" + environment + "/bin/python3";
  return access(python.c_str(), X_OK) == 0 ? python : "";
}

std::vector<std::string> installed_packages(const std::string& environment) {
  const std::string file = environments_folder() + "/" + environment + "/installed.txt";
  std::vector<std::string> lines;
  if (!is_taken(file)) return lines;
  std::istringstream in(read_text(file, Origin::found));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::optional<std::string> why_no_adapter(const PeerLibrary& library) {
  if (access(supervisor_script().c_str(), F_OK) != 0) {
    return "the adapters of other libraries are not beside this program; MFBENCH_PEER_SCRIPTS "
           "names their folder, peers of the source";
  }
  if (access((library.folder + "/adapter.py").c_str(), F_OK) != 0) {
    return fmt::format("the folder {} has no adapter.py", library.name);
  }
  if (!python_of(library.environment).empty()) return std::nullopt;
  if (library.environment == kCallersPython) {
    return fmt::format("found no program {} to start it with: set PYTHON to a Python",
                       named_python());
  }
  return fmt::format(
      "{0} is not installed: ./dev peers {0} does it (MFBENCH_PEERS may name another folder)",
      library.environment);
}

std::string find_program(const std::string& named) {
  for (const auto& folder : named_folders("MFBENCH_PROGRAMS")) {
    std::error_code error;
    const fs::path top = fs::canonical(folder, error);
    if (error) continue;
    const fs::path found = fs::canonical(top / named, error);
    const bool inside = !error && found.string().starts_with((top / "").string());
    if (inside && fs::is_regular_file(found, error)) return found.string();
  }
  return "";
}

}  // namespace peer
}  // namespace mf
