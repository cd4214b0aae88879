#include "algorithms/peer/session.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "algorithms/core/foreign.hpp"
#include "algorithms/peer/model_files.hpp"
#include "algorithms/peer/places.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace mf::peer {
namespace {

constexpr double kClockSlack_s = 0.005;  // two clocks of one machine, read one after the other

}  // namespace

Session::Session(std::string library, Order order, std::function<bool()> stop_requested)
    : library_(std::move(library)),
      order_(std::move(order)),
      stop_requested_(std::move(stop_requested)) {
  process_ = std::make_unique<Supervised>(order_);
}

std::string Session::last_words() const {
  if (order_.log.empty()) return "";
  const std::string said = process_->log().last_line();
  if (said.empty()) return "; it printed nothing";
  return fmt::format("; it printed last: {} ({})", said,
                     std::filesystem::path(order_.log).filename().string());
}

void Session::broken(const std::string& what) {
  process_->end();
  fail(ErrorKind::io, "the peer {} cannot be used: {}{}", library_, what, last_words());
}

// Nothing came.
void Session::gone() {
  const Over over = *process_->over();
  if (over.why == Over::Why::broken) broken(over.text);
  process_->end();
  const bool ended = over.why == Over::Why::ended;
  const std::string whole = fmt::format("the peer {} {}{}{}", library_, over.text,
                                        ended ? " before it had answered" : "", last_words());
  if (over.why == Over::Why::timeout) throw CaseOver(CaseOver::Why::timeout, whole);
  throw Error(over.why == Over::Why::memory ? ErrorKind::memory : ErrorKind::io, whole);
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

// A message of the kind "error" is the peer's own account of its failure.
void Session::raise(const Json& message) {
  const auto [kind, text] = checked(message, read_complaint);
  process_->end();
  const std::string whole = fmt::format("the peer {}: {}", library_, text);
  if (kind == "unsupported") throw CaseOver(CaseOver::Why::skipped, whole);
  if (kind == "memory") throw Error(ErrorKind::memory, whole + last_words());
  fail(ErrorKind::io, "{}{}", whole, last_words());
}

// Once: a library that hangs cannot be told from one that takes long.
void Session::tell_wait(double waited_s) {
  constexpr double kPatience_s = 60, kPatience = 0.5;
  if (told_ || waited_s < std::min(kPatience_s, kPatience * order_.timeout_s)) return;
  told_ = true;
  note("the peer {} has not answered for {:.0f} s; timeout_s ends the wait after {:g} s{}",
       library_, waited_s, order_.timeout_s, last_words());
}

std::optional<Json> Session::await(const std::string& type) {
  const auto asked = Clock::now();
  const auto line = process_->answer([&] {
    tell_wait(seconds_since(asked));
    return stop_requested_ && stop_requested_();
  });
  if (!line && process_->over()->why == Over::Why::stop) return std::nullopt;
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
  if (!message) fail(ErrorKind::io, "the peer {} was given up", library_);
  return *message;
}

Hello Session::hello() {
  const Json message = must_await("hello");
  Hello hello = checked(message, [&](JsonReader& reader) { return read_hello(reader, library_); });
  each_epoch_ = hello.each_epoch;
  return hello;
}

double Session::converted() { return checked(must_await("converted"), read_converted); }

std::optional<Trained> Session::train(std::int64_t until, double learning_rate) {
  const auto asked = Clock::now();
  process_->ask({{"type", "train"}, {"until", until}, {"learning_rate", learning_rate}});
  const auto message = await("epoch");
  const double wall_s = seconds_since(asked);
  if (!message) {
    process_->end();
    return std::nullopt;
  }
  const Trained trained =
      checked(*message, [&](JsonReader& reader) { return read_trained(reader, until); });
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
  process_->ask({{"type", "model"}});
  const ModelFiles files = checked(must_await("model"), read_model_files);
  try {
    return read_model(order_.folder, files, shape);
  } catch (const CaseOver&) {
    process_->end();
    throw;
  } catch (const Error& error) {
    std::string text = error.what();
    if (const auto at = text.find(order_.folder + "/"); at != std::string::npos) {
      text.erase(at, order_.folder.size() + 1);
    }
    broken(text);
  }
}

Json Session::end() {
  if (process_->over()) return Json::object();
  stop_requested_ = nullptr;
  process_->ask({{"type", "end"}});
  Json account = checked(must_await("done"), read_done);
  process_->answer();  // none: it ends
  account["ended"] = process_->over() ? process_->over()->text : "said more than was asked";
  process_->end();
  return account;
}

}  // namespace mf::peer
