#include "harness/run/one_case.hpp"

#include <unistd.h>

#include <algorithm>

#include "algorithms/core/registry.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/files/file_place.hpp"
#include "base/files/open_file.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/timeline.hpp"
#include "datasets/load.hpp"
#include "harness/device/environment.hpp"
#include "harness/results/compare/headline.hpp"

namespace mf {
namespace {

// A file under the name of a case whose header has another hash was edited, copied or renamed.
bool is_of(const ResultFile& file, const Case& item, const std::string& path) {
  const std::string hash = text_at(file.header, {"case_hash"}).value_or("");
  if (hash == item.hash) return true;
  warn(
      "{}: is finished, but not this case: its case_hash is {}, that of the case {}; the file "
      "is set aside and the case is run",
      path, hash.empty() ? "missing" : hash, item.hash);
  return false;
}

// Older files have other rules for equal scores, for users without a history, or for items of the
// validation part.
void warn_of_old_ranking(const ResultFile& file, const std::string& path) {
  const Json& ranking = value_at(file.header, {"ranking"});
  if (!ranking.is_object()) return;
  std::vector<std::string> rules;
  if (!ranking.contains("users_without_history")) {
    rules.push_back("of equal scores the smaller item first");
    rules.push_back("users without a history among the others");
  }
  if (ranked_validation(file.header)) rules.push_back("items of the validation part not left out");
  if (rules.empty()) return;
  warn("{}: stands, but was ranked by older rules: {}; --rerun ranks it as the others", path,
       join(rules));
}

// Whether the files have changed since the case failed because of them.
bool has_other_files(const ResultFile& file, const Case& item, const std::string& path) {
  const auto then = text_at(file.footer, {"bad_data_mark"});
  const auto now = then ? mark_of_files(item.data) : std::nullopt;
  if (!now || now == then) return false;
  note("{}: its data could not be read and have changed since; the case is run again", path);
  return true;
}

// For a skipped case, which has measured nothing: each run of the spec would leave one more.
bool holds_nothing(const ResultFile& file) {
  return !file.damage && file.trace.empty() && file.status() == Status::skipped;
}

void make_room(const std::string& path) {
  if (!is_taken(path)) return;
  const auto file = read_result_file(path);
  if (file && holds_nothing(*file)) {
    FilePlace(path, Origin::found).remove();
    return;
  }
  const std::string aside = set_aside(path);
  if (file && file->status() == Status::interrupted) {
    note(
        "{}: was interrupted after {} lines of its trace; the case is run again from its start, "
        "and what was measured is in {}",
        path, file->trace.size(), aside);
  }
}

// For a process that may end with it: a plugin's epoch may never end.
void limit_plugin(const Case& item, const RunOptions& options) {
  const auto limit = item.stop.wall_seconds;
  if (options.only && limit && !find_algorithm(item.algorithm).origin.empty())
    ::alarm(static_cast<unsigned>(*limit + std::max(*limit, 5.0)));
}

}  // namespace

std::unique_ptr<Claim> take_claim(const std::string& key, const RunContext& context) {
  auto claim = context.claims.take(key);
  if (claim) return claim;
  if (const auto other = context.claims.holder(key))
    meet(context.claims, *other, context.neighbour);
  return nullptr;
}

Patience patience_of(const RunOptions& options, std::optional<double> limit_s) {
  Patience patience;
  if (limit_s) patience.seconds = *limit_s;
  if (options.retry) patience.made_before_ns = options.began_ns;
  return patience;
}

std::optional<ResultFile> standing_result(const std::string& path, const Case& item,
                                          const RunOptions& options) {
  const bool is_new = changed_ns(path) > options.began_ns;
  if ((options.rerun || options.profile) && !is_new) return std::nullopt;
  auto file = read_result_file(path);
  if (!file) return std::nullopt;
  warn_of_damage(*file, "the case is run again");
  if (file->damage) return std::nullopt;
  const auto status = file->status();
  if (!status || status == Status::interrupted || status == Status::skipped) return std::nullopt;
  if (has_other_files(*file, item, path)) return std::nullopt;
  const bool retry = options.retry || value_at(file->footer, {"unsaved_model"}) == true;
  if (retry && is_failure(*status) && !is_new) return std::nullopt;
  if (!is_of(*file, item, path)) return std::nullopt;
  warn_of_old_ranking(*file, path);
  return file;
}

CaseResult run_one(const CaseTask& task, std::size_t index, std::size_t count,
                   const RunContext& context) {
  const RunOptions& options = context.options;
  context.progress.begin_case(options.profile ? profiled(task.item, *options.profile) : task.item,
                              index, count);
  make_room(task.result_file);
  if (!options.share) context.store.clear();
  CaseTask timed = task;
  if (options.only) {  // a run --apart makes reference results
    const auto start = Clock::now();
    note_host_speed();
    timed.measuring_s = seconds_since(start);
  }
  if (Timeline* timeline = Timeline::current()) timeline->begin(task.item.id);
  limit_plugin(task.item, options);
  const CaseResult result = run_case(timed, options, context.store, context.progress);
  ::alarm(0);
  if (Timeline* timeline = Timeline::current()) timeline->end();
  context.progress.end_case(result, task.result_file);
  if (result.device_failed) {
    fail(ErrorKind::device,
         "{}: the device failed: {}; this process cannot use it any more. The case stands as "
         "\"error\" (--retry runs it again); the same command goes on with the next case",
         task.item.id, result.reason);
  }
  if (result.ranks_failed && result.status != Status::interrupted) {
    fail(result.status == Status::oom ? ErrorKind::memory : ErrorKind::io,
         "{}: {}; the other ranks have ended with it. The case stands as \"{}\" (--retry runs it "
         "again); the same command goes on with the next case",
         task.item.id, result.reason, kStatuses.of(result.status));
  }
  return result;
}

}  // namespace mf
