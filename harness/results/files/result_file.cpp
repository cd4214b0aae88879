#include "harness/results/files/result_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/files/file_place.hpp"
#include "base/files/open_file.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "harness/results/meaning/ranges.hpp"

namespace mf {

constexpr std::size_t kExcerpt = 60;                         // of a damaged line, in a message
constexpr std::int64_t kMostResult = std::int64_t{1} << 30;  // a line a point: a few MiB

ResultWriter::ResultWriter(const std::string& path)
    : path_(path), file_(FilePlace(path, Origin::found).make_file(O_WRONLY | O_APPEND)) {
  if (!file_) {
    fail(ErrorKind::io, "{}: cannot be written: {}", path, last_cause());
  }
}

void ResultWriter::append(const Json& line) {
  // A message may hold anything: invalid UTF-8 is replaced, so that the line is still written.
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const off_t before = ::lseek(file_.fd(), 0, SEEK_END);
  if (write_all(file_, text)) return;
  const int cause = errno;
  // Removes the torn line; if even that fails, readers stop at it.
  if (::ftruncate(file_.fd(), before) != 0) {
  }
  fail(ErrorKind::io,
       "{}: cannot be written: {}; the results before this line are kept; then run the same "
       "command again",
       path_, cause_of(cause));
}

void ResultWriter::end(bool on_disk) {
  const bool synced = !on_disk || ::fsync(file_.fd()) == 0 || errno == EINVAL;
  if (!synced || !file_.close()) {
    fail(ErrorKind::io, "{}: cannot be written to the disk: {}", path_, last_cause());
  }
}

namespace {

// ---- the clocks of older files, by today's rules (docs/methodology.md, "Clocks") ----

bool may_hold(const Json& json) { return json.is_null() || json.is_object(); }

void move_packing_to_prepare(Json& footer) {
  const auto packing = number_at(footer, {"load_parts", "pack_s"});
  const auto load = number_at(footer, {"clocks", "load_s"});
  const auto prepare = number_at(footer, {"clocks", "prepare_s"});
  if (!packing || !load || !prepare) return;
  footer["load_parts"].erase("pack_s");
  footer["clocks"]["load_s"] = *load - *packing;
  footer["clocks"]["prepare_s"] = *prepare + *packing;
  if (*packing > 0 && may_hold(value_at(footer, {"phases"})))
    footer["phases"][kPackPhase] = {{"seconds_s", *packing}, {"count", 1}};
  const auto lent = number_at(footer, {"shared", "load", "packed_s"});
  if (!lent || !may_hold(value_at(footer, {"shared", "prepare"}))) return;
  footer["shared"]["load"].erase("packed_s");
  footer["shared"]["prepare"]["packed_s"] = *lent;
}

// The phase may include the start of a process that was on the clock `start`. So the algorithm
// keeps at least its own phases.
void free_peer_of_its_files(Json& footer) {
  const auto writing = number_at(footer, {"phases", "hand_over", "seconds_s"});
  const auto prepare = number_at(footer, {"clocks", "prepare_s"});
  if (!writing || !prepare) return;
  double own = 0;
  for (const char* phase : {"convert", "initial_factors"})
    own += number_at(footer, {"phases", phase, "seconds_s"}).value_or(0);
  const double freed = std::max(0.0, std::min(*writing, *prepare - own));
  footer["clocks"]["prepare_s"] = *prepare - freed;
  if (const auto rest = number_at(footer, {"clocks", "rest_s"}))
    footer["clocks"]["rest_s"] = *rest + freed;
  Json& phases = footer["phases"];
  phases[kForPeerPhase] = std::move(phases["hand_over"]);
  phases.erase("hand_over");
  if (value_at(footer, {"shared", "prepare"}).is_object())
    footer["shared"]["prepare"].erase("training_files_s");
}

// A footer of today's version stays as it is. Older footers change in two ways:
// - They have packing for a device on the load clock ("load_parts": {"pack_s"}). Packing moves to
//   prepare and becomes the phase "pack". A loan of packed ratings moves, too.
// - They have the files for a peer (phase "hand_over") on prepare. Writing them moves to the
//   rest and becomes the phase "files_for_peer". Its loan goes.
void read_by_todays_rules(Json& footer) {
  move_packing_to_prepare(footer);
  free_peer_of_its_files(footer);
}

// ---- lines ----

std::optional<Status> status_of(const Json& footer) {
  return kStatuses.find(text_at(footer, {"status"}).value_or(""));
}

// The expected line, or empty if this is one.
std::optional<std::string> expected_instead(const Json& line) {
  const auto type = text_at(line, {"type"});
  if (!type) return "an object with the text \"type\"";
  if (*type == "trace") {
    const bool error = line.contains("test_rmse") || line.contains("objective");
    if (integer_at(line, {"epoch"}) && number_at(line, {"train_s"}) && error) return std::nullopt;
    return "\"epoch\", \"train_s\" and \"test_rmse\" or \"objective\" of a trace point";
  }
  if (*type == "footer") {
    const bool status = status_of(line).has_value();
    if (status && integer_at(line, {"updates"}) && number_at(line, {"clocks", "train_s"})) {
      return std::nullopt;
    }
    return "\"status\", \"updates\" and \"clocks\" of a footer";
  }
  return std::nullopt;
}

// The same for its place: a header only on line 1, no line after the footer.
std::optional<std::string> expected_here(const Json& line, const ResultFile& before) {
  const bool header = text_at(line, {"type"}) == "header";
  if (before.footer.is_object()) return "nothing after the footer";
  if (before.header.is_null() && !header) return "the header";
  if (before.header.is_object() && header) return "only one header";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_unknown_version(const Json& json) {
  const Json& version = value_at(json, {"schema_version"});
  if (version.is_null() || version == kSchemaVersion) return std::nullopt;
  return fmt::format("found schema_version {}, and this version knows {} only", version.dump(),
                     kSchemaVersion);
}

std::optional<Status> ResultFile::status() const {
  return finished() ? status_of(footer) : std::nullopt;
}

// The RMSE that decides about a case has its own key.
std::optional<double> final_of(const Json& footer, Metric metric) {
  const std::string key = metric.key();
  const auto found = number_at(footer, {"metrics", key.c_str(), "final"});
  return found ? found : number_at(footer, {("final_" + key).c_str()});
}

std::optional<ResultFile> read_result_file(const std::string& path) {
  CaseLines lines(path);
  try {
    const auto file = open_if_there(path, Origin::found);
    if (!file) return std::nullopt;
    const std::string all = read_text(*file, path, kMostResult);
    std::string_view rest = all;
    for (std::int64_t number = 1; !lines.file().damage; ++number) {
      const std::size_t end = rest.find('\n');
      if (end == rest.npos) break;  // a last line without its end: one that was being written
      const std::string text(rest.substr(0, end));
      rest.remove_prefix(end + 1);
      lines.add(text, Json::parse(text, nullptr, false), number);
    }
  } catch (const Error& error) {  // a link, a pipe; one that cannot be read
    if (error.kind() != ErrorKind::data) throw;
    ResultFile none;
    none.damage = error.what();
    return none;
  }
  return lines.take();
}

void CaseLines::add(const std::string& text, Json json, std::int64_t number) {
  if (file_.damage) return;
  auto expected = expected_instead(json);
  if (!expected) expected = expected_here(json, file_);
  if (expected) {
    file_.damage = fmt::format("{}: line {}: found {}, expected {}", path_, number,
                               text.substr(0, kExcerpt), *expected);
    return;
  }
  const auto type = text_at(json, {"type"});
  if (type == "header") {
    const auto why = why_unknown_version(json);
    if (why) file_.damage = fmt::format("{}: line {}: {}", path_, number, *why);
    file_.header = std::move(json);
  } else if (type == "trace") {
    file_.trace.push_back(std::move(json));
  } else if (type == "footer") {
    file_.footer = std::move(json);
    read_by_todays_rules(file_.footer);
  }
}

void warn_of_damage(const ResultFile& file, const std::string& consequence) {
  if (file.damage) warn("{}; {}", *file.damage, consequence);
}

std::string set_aside(const std::string& path) {
  const FilePlace place(path, Origin::found);
  for (int n = 1;; ++n) {
    const FilePlace aside(path + ".partial-" + std::to_string(n), Origin::found);
    if (aside.is_taken()) continue;
    place.move_to(aside.name());
    return aside.path();
  }
}

}  // namespace mf
