#include "harness/run/case_turns.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/files/open_file.hpp"
#include "base/hash.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "datasets/load.hpp"
#include "harness/device/environment.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/turns.hpp"

namespace mf {
namespace {

std::optional<std::string> model_folder(const Spec& spec, const RunOptions& options,
                                        const std::string& folder, const Case& item) {
  if (options.profile || !has_model(item)) return std::nullopt;
  if (options.model_folder) return *options.model_folder + "/" + item.id;
  if (!spec.save_model) return std::nullopt;
  return make_folder_in(folder, "models") + "/" + item.id;
}

// A case's hash does not cover the content of the user's files. If the cache does not know it,
// their times must do.
class LaterFiles {
 public:
  explicit LaterFiles(std::string began) : began_(std::move(began)) {}

  // Once for each data set.
  void warn_of(const Case& item, const ResultFile& standing) {
    const auto [known, is_new] = known_.try_emplace(item.data.label());
    Files& files = known->second;
    if (is_new) files = {known_content(item.data), written_at(item.data), false};
    if (files.told) return;
    const auto started = text_at(standing.header, {"environment", "started_at"});
    if (!began_.empty() && started >= began_) return;
    const auto content = text_at(standing.header, {"dataset", "content_hash"});
    if (files.content && content) {
      if (*content == hash64_text(*files.content)) return;
      warn(
          "{}: its ratings are not those of the results that stand here; --rerun measures all "
          "again",
          known->first);
      files.told = true;
    } else if (files.written && started && utc_text(*files.written) > *started) {
      warn(
          "{}: written at {}, after results that stand here; if its ratings are others now, "
          "--rerun measures all again",
          known->first, utc_text(*files.written));
      files.told = true;
    }
  }

 private:
  struct Files {
    std::optional<std::uint64_t> content;
    std::optional<std::int64_t> written;
    bool told = false;
  };

  std::string began_;
  std::map<std::string, Files> known_;  // by data set
};

void note_failure(SessionSummary& summary, const FailedCase& one) {
  if (!is_failure(one.status)) return;
  ++summary.failed;
  summary.failures.push_back(one);
}

class CaseTurns {
 public:
  CaseTurns(SessionSummary& summary, const RunContext& context)
      : summary_(summary),
        context_(context),
        options_(context.options),
        cases_(summary.spec.cases),
        later_files_(options_.began) {
    std::vector<const Case*> own_cases;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (!is_own(i)) continue;
      own_.push_back(i);
      own_cases.push_back(&cases_[i]);
    }
    again_ = done_again(own_cases);
  }

  void run() {
    context_.progress.begin_run(cases_to_come(), options_.before);
    const auto attempt = [this](HeldWork& work) { return this->attempt(work); };
    // For a process for one case, the one that started it comes back.
    const auto await = [this](const std::vector<HeldWork>& held) {
      return !options_.only &&
             await_claims(context_.claims, held, Rest::leave, options_.interrupted);
    };
    const auto held = take_turns(own_, attempt, await);
    for (const auto& work : held) {
      const auto holder = context_.claims.holder(work.key);
      summary_.held.push_back({cases_[work.index].id, work.key,
                               holder ? holder->process.to_text() : "another process"});
    }
    summary_.interrupted |= options_.interrupted && options_.interrupted() > 0 && !held.empty();
  }

 private:
  bool is_own(std::size_t i) const {
    if (options_.only && *options_.only >= 0) return std::cmp_equal(*options_.only, i);
    return options_.shard.has(i);
  }

  std::string path_of(const Case& item) const { return summary_.folder + "/" + item.id + ".jsonl"; }

  // The cases left to run, as far as known without reading the standing results; of a run --apart,
  // from the case of this process on.
  std::vector<const Case*> cases_to_come() const {
    std::vector<const Case*> to_come;
    const auto first =
        static_cast<std::size_t>(std::max<std::int64_t>(options_.only.value_or(0), 0));
    for (std::size_t i = first; i < cases_.size(); ++i) {
      if (!options_.shard.has(i)) continue;
      const bool stands = is_taken(path_of(cases_[i]));
      if (!stands || options_.rerun || options_.profile) to_come.push_back(&cases_[i]);
    }
    return to_come;
  }

  Turn attempt(HeldWork& work) {
    const std::size_t i = work.index;
    const Case& item = cases_[i];
    const std::string path = path_of(item);
    const std::int64_t seen = changed_ns(path);
    if (stands(i, path)) return Turn::over;
    if (options_.only == RunOptions::kNoCase) return Turn::over;
    if (options_.interrupted && options_.interrupted() > 0) {
      summary_.interrupted = true;
      return Turn::stop;
    }
    if (would_pass_the_end(item)) {
      ++summary_.left_out;
      return Turn::over;
    }
    work.key = item.hash.substr(0, kKeyDigits);
    work.patience = patience_of(options_, item.stop.wall_seconds);
    const auto claim = take_claim(work.key, context_);
    if (!claim) return Turn::held;
    // Another may have run it between the two.
    if (changed_ns(path) != seen && stands(i, path)) return Turn::over;
    return run(i, path, *claim);
  }

  Turn run(std::size_t i, const std::string& path, const Claim& claim) {
    const Case& item = cases_[i];
    const auto at = std::lower_bound(own_.begin(), own_.end(), i) - own_.begin();
    const DoneAgain again = options_.share ? again_[at] : DoneAgain{};
    const auto start = Clock::now();
    const CaseResult result = run_one(
        {summary_.spec, item, path, model_folder(summary_.spec, options_, summary_.folder, item),
         again.cut, again.trained, again.handed_over},
        i + 1, cases_.size(), context_);
    if (!claim.is_held()) {
      warn("{}: another process has taken this case over; these lines are set aside", item.id);
      return Turn::held;
    }
    took_s_[{item.name, item.data_name}] = seconds_since(start);
    ++summary_.run;
    note_failure(summary_, {item.id, result.status, result.reason});
    summary_.bad_data += result.bad_data ? 1 : 0;
    summary_.interrupted = result.status == Status::interrupted;
    return summary_.interrupted ? Turn::stop : Turn::over;
  }

  // It takes about as long as the last one with another seed.
  bool would_pass_the_end(const Case& item) const {
    const auto like = took_s_.find({item.name, item.data_name});
    return options_.left_s && like != took_s_.end() && options_.left_s() < like->second;
  }

  // Whether it needs no run, and is counted.
  bool stands(std::size_t i, const std::string& path) {
    const auto standing = standing_result(path, cases_[i], options_);
    if (!standing) return false;
    const bool since = changed_ns(path) > options_.began_ns;
    ++(since ? summary_.by_others : summary_.finished_before);
    const auto reason = text_at(standing->footer, {"stop_reason"});
    note_failure(summary_, {cases_[i].id, *standing->status(), reason.value_or("")});
    // For a process for one case, the one that started it says so.
    if (!options_.only || *options_.only == RunOptions::kNoCase)
      later_files_.warn_of(cases_[i], *standing);
    return true;
  }

  static constexpr std::size_t kKeyDigits = 20;

  SessionSummary& summary_;
  const RunContext& context_;
  const RunOptions& options_;
  const std::vector<Case>& cases_;
  std::vector<std::size_t> own_;  // indices, rising
  std::vector<DoneAgain> again_;  // of those
  LaterFiles later_files_;
  std::map<std::pair<std::string, std::string>, double> took_s_;  // by name and data set
};

}  // namespace

void run_cases(SessionSummary& summary, const RunContext& context) {
  CaseTurns(summary, context).run();
}

}  // namespace mf
