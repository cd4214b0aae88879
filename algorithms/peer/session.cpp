#include "algorithms/peer/session.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "algorithms/core/foreign.hpp"
#include "algorithms/peer/model_files.hpp"
#include "algorithms/peer/places.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace mf::peer {
namespace {

constexpr std::int64_t kLongestLog = 64 << 20;
constexpr std::int64_t kKeptOfLog = 1 << 20;  // of one that is longer
constexpr double kEndSeconds = 3;  // from "end" to its end, and from a closed channel to its status
constexpr double kClockSlack_s = 0.005;  // two clocks of one machine, read one after the other

// What libraries need of ours; proxies and credentials are not among it.
std::vector<std::string> environment_of(const SessionOptions& options) {
  std::vector<std::string> all = {"HOME=" + options.folder, "TMPDIR=" + options.folder,
                                  "LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1",
                                  fmt::format("OMP_NUM_THREADS={}", options.threads),
                                  // Threads of BLAS within threads of a library slow both.
                                  "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1"};
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "JAVA_HOME", "CUDA_VISIBLE_DEVICES",
                           "CUDA_HOME", "CUDA_PATH", "MFBENCH_SPARK_MASTER"}) {
    if (const char* value = std::getenv(name)) all.push_back(fmt::format("{}={}", name, value));
  }
  return all;
}

Command command_of(const SessionOptions& options) {
  const std::string scripts = scripts_folder().value_or("");
  Command command;
  // Isolated: neither the folder that it runs in nor PYTHON* of the user's decide what is imported.
  command.arguments = {python_of(options.environment), "-I", scripts + "/launch.py",
                       scripts + "/" + options.library + ".py", options.folder};
  command.environment = environment_of(options);
  command.folder = options.folder;
  command.log = options.log;
  return command;
}

// The last line that says something, without what a terminal would obey.
std::string last_line(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return "";
  const std::streamoff size = in.tellg();
  in.seekg(std::max<std::streamoff>(0, size - 4096));
  std::string line, last;
  while (std::getline(in, line)) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return one_line(without_places(last).substr(0, 300));
}

}  // namespace

Session::Session(SessionOptions options) : options_(std::move(options)) {
  auto [own, theirs] = make_channel();
  if (!options_.log.empty()) std::ofstream(options_.log, std::ios::trunc);
  asked_ = Clock::now();
  process_ = std::make_unique<Process>(command_of(options_), theirs);
  channel_ = std::make_unique<Channel>(std::move(own));
}

Session::~Session() {
  process_.reset();
  std::error_code ignored;
  if (!options_.log.empty() && std::filesystem::file_size(options_.log, ignored) == 0) {
    std::filesystem::remove(options_.log, ignored);
  }
}

// Once a second: it looks at every file.
bool Session::writes_too_much() {
  if (options_.scratch_bytes == 0 || seconds_since(weighed_) < 1) return false;
  weighed_ = Clock::now();
  return bytes_below(options_.folder) > options_.scratch_bytes;
}

// False: the wait is over.
bool Session::watch() {
  if (options_.stop_requested && options_.stop_requested()) {
    over_ = Over::stop;
  } else if (seconds_since(asked_) > options_.timeout_s) {
    over_ = Over::timeout;
  } else if (const TreeUse use = process_->use();
             options_.memory_bytes > 0 && use.resident_bytes > options_.memory_bytes) {
    over_ = Over::memory;
  } else if (process_->log_bytes() > kLongestLog) {
    over_ = Over::log;
  } else if (writes_too_much()) {
    over_ = Over::scratch;
  } else if (process_->ended()) {
    over_ = Over::ended;
  }
  return over_ == Over::not_yet;
}

std::string Session::last_words() const {
  if (options_.log.empty()) return "";
  const std::string said = last_line(options_.log);
  if (said.empty()) return "; it printed nothing";
  return fmt::format("; it printed last: {} ({})", said,
                     std::filesystem::path(options_.log).filename().string());
}

void Session::broken(const std::string& what) {
  process_->kill();
  fail(ErrorKind::io, "the peer {} is not to be used: {}{}", options_.library, what, last_words());
}

// Nothing came.
void Session::gone() {
  if (over_ == Over::timeout) {
    process_->kill();
    throw CaseOver(CaseOver::Why::timeout,
                   fmt::format("the peer {} gave no answer within {} (timeout_s){}",
                               options_.library, format_seconds(options_.timeout_s), last_words()));
  }
  if (over_ == Over::memory) {
    const auto bytes = static_cast<double>(process_->use().resident_bytes);
    process_->kill();
    fail(ErrorKind::memory, "the peer {} took {} of memory, {} are for it (memory_gb){}",
         options_.library, format_bytes(bytes),
         format_bytes(static_cast<double>(options_.memory_bytes)), last_words());
  }
  if (over_ == Over::scratch) {
    broken(fmt::format("it has more than {} in its folder (scratch_gb)",
                       format_bytes(static_cast<double>(options_.scratch_bytes))));
  }
  if (over_ == Over::log) {
    process_->kill();
    std::error_code ignored;
    std::filesystem::resize_file(options_.log, kKeptOfLog, ignored);
    broken(fmt::format("it printed more than {}", format_bytes(kLongestLog)));
  }
  const auto ending = process_->wait(kEndSeconds);
  if (!ending) broken("it closed its channel and went on running");
  process_->kill();
  fail(ErrorKind::io, "the peer {} {} before it had answered{}", options_.library, ending->text(),
       last_words());
}

// A message of the kind "error" is the peer's own account of its failure.
void Session::raise(const Json& message) {
  std::string kind, text;
  try {
    JsonReader reader(message, "$");
    reader.string("type", "");
    kind = reader.choice("kind", "failed", {"failed", "memory", "unsupported"});
    text = one_line(without_places(reader.string("message", "")).substr(0, 500));
    reader.finish();
  } catch (const Error& error) {
    broken(error.what());
  }
  process_->kill();
  const std::string whole = fmt::format("the peer {}: {}", options_.library, text);
  if (kind == "unsupported") throw CaseOver(CaseOver::Why::skipped, whole);
  if (kind == "memory") throw Error(ErrorKind::memory, whole + last_words());
  fail(ErrorKind::io, "{}{}", whole, last_words());
}

std::optional<Json> Session::await(const std::string& type) {
  over_ = Over::not_yet;
  std::optional<std::string> line;
  try {
    line = channel_->receive([this] { return watch(); });
  } catch (const Error& error) {
    broken(error.what());
  }
  if (!line && over_ == Over::stop) return std::nullopt;
  if (!line) gone();
  Json message;
  std::string found;
  try {
    message = parse_json(*line, "its message");
    found = JsonReader(message, "$").string("type", "");
  } catch (const Error& error) {
    broken(fmt::format("expected a message \"{}\", found {}: {}", type, in_quotes(*line),
                       one_line(error.what())));
  }
  if (found == "error") raise(message);
  if (found != type) {
    broken(fmt::format("expected a message \"{}\", found {}", type, in_quotes(*line)));
  }
  return message;
}

// Before training there is nothing that could be kept.
Json Session::must_await(const std::string& type) {
  auto message = await(type);
  if (!message) fail(ErrorKind::io, "the peer {} was given up", options_.library);
  return *message;
}

template <class Read>
auto Session::checked(const Json& message, Read read)
    -> decltype(read(std::declval<JsonReader&>())) {
  try {
    JsonReader reader(message, "$");
    reader.string("type", "");
    auto out = read(reader);
    reader.finish();
    return out;
  } catch (const Error& error) {
    broken(fmt::format("its message {}: {}", in_quotes(message.dump()), one_line(error.what())));
  }
}

Hello Session::hello() {
  const Json message = must_await("hello");
  Hello hello = checked(message, [&](JsonReader& reader) {
    constexpr std::size_t kLongestBuild = 16 << 10;
    Hello out;
    reader.integer("protocol", 0, kProtocol, kProtocol);
    reader.require("protocol");
    reader.choice("library", "", {options_.library});
    out.version = reader.name("version").substr(0, 100);
    out.each_epoch = reader.boolean("each_epoch", true);
    out.starts_from = reader.choice("starts_from", "library", {"library", "mfbench"});
    if (const Json* build = reader.find("build")) out.build = *build;
    if (out.build.is_null()) out.build = Json::object();
    if (!out.build.is_object() || out.build.dump().size() > kLongestBuild) {
      fail(ErrorKind::io, "$.build: expected an object of at most {} bytes", kLongestBuild);
    }
    return out;
  });
  each_epoch_ = hello.each_epoch;
  return hello;
}

double Session::converted() {
  asked_ = Clock::now();
  const Json message = must_await("converted");
  return checked(message, [](JsonReader& reader) {
    reader.require("seconds");
    return reader.number("seconds", 0, 0, 1e9);
  });
}

std::optional<Session::Trained> Session::train(std::int64_t until, double learning_rate) {
  asked_ = Clock::now();
  channel_->send({{"type", "train"}, {"until", until}, {"learning_rate", learning_rate}});
  const auto message = await("epoch");
  const double wall_s = seconds_since(asked_);
  if (!message) {
    process_->kill();
    return std::nullopt;
  }
  const Trained trained = checked(*message, [&](JsonReader& reader) {
    reader.require("epoch");
    reader.require("train_s");
    reader.integer("epoch", 0, until, until);
    Trained out;
    out.seconds = reader.number("train_s", 0, 0, 1e9);
    if (const Json* rmse = reader.find("rmse")) {
      out.rmse = rmse->is_null() ? std::nan("") : reader.number("rmse", 0, 0, 1e30);
    }
    return out;
  });
  const double total = trained.seconds;
  // Libraries that begin again report the whole of the new run.
  const double before = each_epoch_ ? trained_s_ : 0;
  if (total < before) {
    broken(fmt::format("it had trained {} s, and {} s after another epoch", before, total));
  }
  if (total - before > wall_s + kClockSlack_s) {
    broken(fmt::format("it says that it has trained {} s in {} s", total - before, wall_s));
  }
  trained_s_ = total;
  return trained;
}

Model Session::model(const ModelShape& shape) {
  asked_ = Clock::now();
  channel_->send({{"type", "model"}});
  const ModelFiles files = checked(must_await("model"), read_model_files);
  try {
    return read_model(options_.folder, files, shape);
  } catch (const CaseOver&) {
    process_->kill();
    throw;
  } catch (const Error& error) {
    std::string text = error.what();
    if (const auto at = text.find(options_.folder + "/"); at != std::string::npos) {
      text.erase(at, options_.folder.size() + 1);
    }
    broken(text);
  }
}

Json Session::end() {
  if (process_->ended()) return Json::object();
  asked_ = Clock::now();
  options_.timeout_s = kEndSeconds;
  options_.stop_requested = nullptr;
  Json account = Json::object();
  process_->use();  // a look at its memory while it is there
  if (channel_->send({{"type", "end"}})) {
    const Json message = must_await("done");
    account = checked(message, [](JsonReader& reader) {
      Json out = Json::object();
      if (reader.find("peak_device_bytes") != nullptr) {
        out["peak_device_bytes"] = reader.integer("peak_device_bytes", 0, 0, std::int64_t{1} << 50);
      }
      return out;
    });
  }
  const auto ending = process_->wait(kEndSeconds);
  account["ended"] = ending ? ending->text() : "was still running, and was killed";
  process_->kill();
  return account;
}

}  // namespace mf::peer
