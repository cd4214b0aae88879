// `mfbench evaluate`: lists of items that any program made, judged as the rankings of a model are
// (evaluate/ranking.hpp).
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "base/files/atomic_file.hpp"
#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "datasets/readers/readers.hpp"
#include "harness/commands.hpp"
#include "harness/evaluate/model_io.hpp"
#include "harness/evaluate/ranking.hpp"
#include "harness/results/meaning/stats.hpp"
#include "harness/results/summarize.hpp"
#include "harness/run/case/case_evaluation.hpp"
#include "harness/run/data/data_store.hpp"

namespace mf {
namespace {

struct EvaluateOptions {
  std::string lists, data, split, chosen, per_user;
  std::vector<std::string> metrics;
  bool json = false;
};

// A case with the test part: of a spec, or of implicit feedback for a data set.
Case case_of(const EvaluateOptions& o) {
  const bool is_spec = o.data.ends_with(".json");
  Json spec = {{"algorithms", Json::array({"popular"})}};
  if (is_spec) {
    spec = read_json_file(o.data);
  } else {
    const Json entry = o.data.starts_with('{') ? parse_json(o.data, "--data") : Json(o.data);
    spec["datasets"] = Json::array({entry});
  }
  if (!o.split.empty()) spec["split"] = parse_json(o.split, "--split");
  if (!o.metrics.empty()) spec["evaluate"]["metrics"] = o.metrics;
  std::vector<Case> cases;
  try {
    cases = parse_spec(spec, "evaluate").cases;
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", o.data, error.what());
  }
  return cases[*cases_named(o.chosen, cases).begin()];
}

ModelIds ids_of(View<const std::int32_t> ids, const IdNames& names) {
  return {{ids.begin(), ids.end()}, names};
}

// Rows of the data in the place of a file's ids, which integers and names of one text share; -1 for
// an id that the data lack.
void to_rows(AlignedVector<std::int32_t>& ids, const IdNames& names, const ModelIds& known,
             ThreadTeam& team) {
  const auto row = [&](auto id) { return static_cast<std::int32_t>(known.row(id).value_or(-1)); };
  std::vector<std::int32_t> of_name;
  for (std::int64_t n = 0; n < names.size(); ++n) of_name.push_back(row(names[n]));
  team.for_chunks(std::ssize(ids), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    for (auto k = begin; k < end; ++k) ids[k] = names.empty() ? row(ids[k]) : of_name[ids[k]];
  });
}

struct Listed {
  float score;
  std::uint32_t place;  // among equal scores
  std::int32_t item;
};

struct Lists {
  bool scored = false;                       // else they are in the order of the lines
  std::vector<std::vector<Listed>> of_user;  // of each ranked user
  std::int64_t lines_of_unknown_users = 0, lines_of_other_users = 0;
  std::int64_t users_without_list = 0, short_lists = 0, unknown_items = 0, seen_items = 0;
};

Lists read_lists(const std::string& path, const RankedUsers& users, const Ratings& known,
                 ThreadTeam& team) {
  ReadOptions options;
  options.threads = team.size();
  const bool named = !known.user_names().empty() || !known.item_names().empty();
  // An array says itself whether it holds names, and some formats have none.
  if (named && !std::filesystem::is_directory(path)) {
    const std::string format = look_at_ratings(path, options).format;
    for (const ReaderFormat& one : reader_formats())
      if (one.name == format && one.text_ids) options.ids = IdKind::text;
  }
  RawRatings raw = read_ratings(path, options);
  to_rows(raw.users, raw.user_names, ids_of(known.user_ids(), known.user_names()), team);
  to_rows(raw.items, raw.item_names, ids_of(known.item_ids(), known.item_names()), team);
  Lists out;
  out.scored = std::any_of(raw.values.begin(), raw.values.end(), [](float x) { return x != 1; });
  out.of_user.resize(users.count());
  std::vector<std::int64_t> place(known.n_users(), -1);
  for (std::int64_t r = 0; r < users.count(); ++r) place[users.users[r]] = r;
  for (std::int64_t k = 0; k < std::ssize(raw.users); ++k) {
    const std::int32_t user = raw.users[k];
    const std::int64_t r = user < 0 ? -1 : place[user];
    if (r < 0) {
      ++(user < 0 ? out.lines_of_unknown_users : out.lines_of_other_users);
      continue;
    }
    auto& list = out.of_user[r];
    if (!out.scored && !list.empty() && raw.users[k - 1] != user) {
      fail(ErrorKind::data,
           "{}: found the list of user {} in two places, expected its lines together, the best "
           "first, or a score in each line",
           path, known.user_text(user));
    }
    const float score = out.scored ? raw.values[k] : -static_cast<float>(list.size());
    list.push_back({score, tie_place(raw.items[k], users.tie_key(r)), raw.items[k]});
  }
  return out;
}

// An unknown item keeps its rank, as a miss; one that was seen has none. `depth`: the deepest rank
// of a metric.
std::vector<Hits> rank_lists(Lists& lists, const std::string& path, const RankedUsers& users,
                             const Ratings& known, int depth, ThreadTeam& team) {
  std::vector<Hits> hits(users.count());
  const auto add = [](std::int64_t& to, auto n) {
    std::atomic_ref(to) += static_cast<std::int64_t>(n);
  };
  const auto rank = [&](std::int64_t r) {
    auto& list = lists.of_user[r];
    if (list.empty()) return add(lists.users_without_list, 1);
    std::sort(list.begin(), list.end(), [](auto& a, auto& b) { return a.item < b.item; });
    const auto twice = std::adjacent_find(
        list.begin(), list.end(), [](auto& a, auto& b) { return a.item == b.item && a.item >= 0; });
    if (twice != list.end()) {
      fail(ErrorKind::data, "{}: found item {} twice in the list of user {}, expected it once",
           path, known.item_text(twice->item), known.user_text(users.users[r]));
    }
    add(lists.unknown_items,
        std::count_if(list.begin(), list.end(), [](auto& one) { return one.item < 0; }));
    add(lists.seen_items, std::erase_if(list, [&](auto& one) {
          return std::binary_search(users.seen[r].begin(), users.seen[r].end(), one.item);
        }));
    if (std::ssize(list) < depth) add(lists.short_lists, 1);
    std::sort(list.begin(), list.end(), [](auto& a, auto& b) {
      return std::tie(a.score, a.place) > std::tie(b.score, b.place);
    });
    const auto held_out = users.held_out[r];
    const std::size_t listed = std::min<std::size_t>(list.size(), kRanks);
    for (std::size_t i = 0; i < listed; ++i) {
      const bool is_hit = std::binary_search(held_out.begin(), held_out.end(), list[i].item);
      if (is_hit) hits[r].set(static_cast<int>(i));
    }
  };
  team.for_chunks(users.count(), 256, [&](std::int64_t begin, std::int64_t end) {
    for (auto r = begin; r < end; ++r) rank(r);
  });
  return hits;
}

// Of the users with a history, in the order of `users`; written as a table, too, if asked for.
std::vector<std::vector<double>> values_of(const std::vector<Metric>& metrics,
                                           const std::vector<Hits>& hits, const RankedUsers& users,
                                           const Ratings& known, const std::string& path) {
  const ModelIds ids = ids_of(known.user_ids(), known.user_names());
  std::vector<std::vector<double>> values(metrics.size());
  std::string table = "user,held_out";
  for (const Metric one : metrics) table += "," + one.key();
  for (std::int64_t r = 0; r < users.count(); ++r) {
    if (users.is_cold(r)) continue;
    const std::int64_t held_out = users.held_out[r].size();
    table += fmt::format("\n{},{}", csv_cell(Json(ids.name(users.users[r]))), held_out);
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      values[i].push_back(metrics[i]->of_user(hits[r], metrics[i].k(), held_out));
      table += fmt::format(",{}", values[i].back());
    }
  }
  if (!path.empty()) write_atomically(path, table + "\n");
  return values;
}

void evaluate_command(const EvaluateOptions& o) {
  const Case item = case_of(o);
  const CaseData data = DataStore().get(item);
  CaseEvaluation evaluation(item);
  evaluation.set_data(data);
  if (const auto why = evaluation.why_not()) fail(ErrorKind::data, "{}", *why);
  const Split& split = *data.split;
  ThreadTeam team(hardware_threads());
  const RankedUsers users = choose_ranked_users(
      split.train, &split.fold_in, split.test, item.evaluate.ranking, is_implicit(item), team,
      split.validation.nnz() > 0 ? &split.validation : nullptr);
  std::vector<Metric> metrics = ranking_of(item).metrics;
  std::erase_if(metrics, [](Metric one) { return one->part != MetricPart::test; });
  int depth = 0;
  for (const Metric one : metrics) depth = std::max(depth, one.k());
  Lists lists = read_lists(o.lists, users, split.train, team);
  const auto hits = rank_lists(lists, o.lists, users, split.train, depth, team);
  const std::int64_t judged = std::count(users.cold.begin(), users.cold.end(), 0);
  if (judged == 0 || lists.users_without_list == users.count()) {
    fail(ErrorKind::data,
         "{}: found no list of a user with a history and an item in the test part, expected ids as "
         "in the data, such as {} for a user and {} for an item",
         o.lists, split.train.user_text(0), split.train.item_text(0));
  }
  const auto values = values_of(metrics, hits, users, split.train, o.per_user);
  const auto means = mean_ranking(hits, users, false, metrics, team);
  Json said = {{"data", item.data_name},
               {"order", lists.scored ? "by scores" : "of lines"},
               {"users", judged},
               {"users_without_list", lists.users_without_list},
               {"short_lists", lists.short_lists},
               {"seen_items", lists.seen_items},
               {"unknown_items", lists.unknown_items},
               {"lines_of_unknown_users", lists.lines_of_unknown_users},
               {"lines_of_other_users", lists.lines_of_other_users}};
  std::string text;
  for (const auto& [key, value] : said.items())
    text += fmt::format("{:<24}{}\n", key, json_text(value));
  text += fmt::format("\n{:<24}value   {:g} % interval over users\n", "metric", 100 * kLevel);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    const auto [low, high] = judged > 1 ? mean_of(values[i]).interval : Interval{kNone, kNone};
    const Metric one = metrics[i];
    said["metrics"][one.key()] = {
        {"value", means[i]}, {"low", number_or_null(low)}, {"high", number_or_null(high)}};
    text += fmt::format("{:<24}{:<8}{} to {}\n", one.key(), one.format(means[i]), one.format(low),
                        one.format(high));
  }
  fmt::print("{}", o.json ? json_text(said) + "\n" : printable(text));
}

}  // namespace

void add_evaluate_command(CLI::App& app) {
  auto* command = app.add_subcommand("evaluate", "judge lists of items that any program made");
  const auto o = std::make_shared<EvaluateOptions>();
  command->add_option("lists", o->lists, "lines \"user item\", the best first, or with a score")
      ->required();
  command->add_option("--data", o->data, "a data set as in a spec, or a spec, for its test part")
      ->required();
  command->add_option("--split", o->split, "as in a spec: '{\"leave_out\": 1}' [20 % holdout]");
  command->add_option("--case", o->chosen, "of a spec: the beginning of the id of a case");
  command->add_option("--metrics", o->metrics, "also these: ndcg_10,recall_20")->delimiter(',');
  command->add_option("--per-user", o->per_user, "file for the values of each user, as csv");
  command->add_flag("--json", o->json, "as JSON");
  command->callback([o] { evaluate_command(*o); });
}

}  // namespace mf
