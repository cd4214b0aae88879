// `mfbench recommend`: the best items of one user or of many, for a terminal or for other programs.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/files/atomic_file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "harness/cli_model.hpp"
#include "harness/commands.hpp"
#include "harness/results/summarize.hpp"

namespace mf {
namespace {

enum class ListForm { text, csv, json };

struct RecommendOptions {
  std::string model, out;
  std::optional<std::string> user, users, history;
  bool all = false, json = false, include_seen = false;
  int k = 10;
};

// Whole numbers if ids are, else text.
Json id_json(const ModelIds& ids, std::int64_t row) {
  return ids.names.empty() ? Json(ids.ids[row]) : Json(ids.name(row));
}

std::string json_line(const SavedModel& model, const Json& user, const ScoredItems& items) {
  Json list = Json::array();
  for (const auto& [item, score] : items) {
    // In as few digits as give the float back.
    const double few = std::strtod(fmt::format("{}", score).c_str(), nullptr);
    list.push_back({{"item", id_json(model.items, item)}, {"score", few}});
  }
  return json_text({{"user", user}, {"items", list}}) + "\n";
}

// The list of a user, or, without one, of a history. In text, the user of many stands before each
// item.
std::string lines_of(const SavedModel& model, ListForm form, std::optional<std::int64_t> user,
                     const ScoredItems& items, bool of_many) {
  const Json id = user ? id_json(model.users, *user) : Json();
  if (form == ListForm::json) return json_line(model, id, items);
  const char* between = has_names(model) ? "\t" : " ";
  const std::string before = of_many ? printable(model.users.name(*user)) + between : "";
  std::string text;
  for (const auto& [item, score] : items) {
    text += form == ListForm::csv ? fmt::format("{},{},{}\n", csv_cell(id),
                                                csv_cell(id_json(model.items, item)), score)
                                  : fmt::format("{}{}{}{:.4f}\n", before,
                                                printable(model.items.name(item)), between, score);
  }
  return text;
}

std::vector<std::int64_t> asked_users(const SavedModel& model, const RecommendOptions& o) {
  if (o.users) return read_users(*o.users, model);
  if (o.user) {
    const GivenId user = given_id("--user", *o.user, model.users);
    check_user(model, user, "--user");
    return {user.row};
  }
  std::vector<std::int64_t> all(model.users.ids.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void warn_of_unknown(const SavedModel& model, const std::vector<std::int64_t>& users) {
  const auto known = [&](std::int64_t user) { return model.predictor.known_user()[user] != 0; };
  const auto first = std::find_if_not(users.begin(), users.end(), known);
  if (first == users.end()) return;
  warn(
      "{} of {} users have no rating in training, the first is {}: their lists are not their own "
      "but the same for all such users; --history FILE lists by what a user has seen",
      users.end() - first - std::count_if(first, users.end(), known), users.size(),
      model.users.name(*first));
}

using WriteText = std::function<void(const std::string&)>;

// Returns for how many users.
std::size_t write_lists(const RecommendOptions& o, ListForm form, const WriteText& write) {
  const SavedModel model = load_model(o.model);
  const std::string head = form == ListForm::csv ? "user,item,score\n" : "";
  if (o.history) {
    const ModelUser user = read_new_user(*o.history, model, false);
    const auto items = model.recommend(user, o.k, o.include_seen);
    write(head + lines_of(model, form, {}, items, false));
    return 1;
  }
  const auto users = asked_users(model, o);
  warn_of_unknown(model, users);
  write(head);
  constexpr std::int64_t kBlock = 1024;  // at a time, so that many lists need no memory
  ThreadTeam team(hardware_threads());
  for (std::int64_t first = 0; first < std::ssize(users); first += kBlock) {
    const std::int64_t count = std::min(kBlock, std::ssize(users) - first);
    std::vector<std::string> texts(static_cast<std::size_t>(count));
    team.for_chunks(count, 1, [&](std::int64_t begin, std::int64_t) {
      const std::int64_t user = users[first + begin];
      const auto items = model.recommend(model.user(user), o.k, o.include_seen);
      texts[begin] = lines_of(model, form, user, items, !o.user);
    });
    for (const auto& text : texts) write(text);
  }
  return users.size();
}

ListForm form_of(const RecommendOptions& o) {
  if (o.out.empty()) return o.json ? ListForm::json : ListForm::text;
  if (o.out.ends_with(".jsonl")) return ListForm::json;
  if (o.out.ends_with(".csv") && !o.json) return ListForm::csv;
  if (o.json) {
    fail(ErrorKind::usage, "--out {}: found another ending, expected .jsonl with --json", o.out);
  }
  fail(ErrorKind::usage, "--out {}: found another ending, expected .csv or .jsonl", o.out);
}

void recommend_command(const RecommendOptions& o) {
  const ListForm form = form_of(o);
  if (o.out.empty()) {
    write_lists(o, form, [](const std::string& text) { fmt::print("{}", text); });
    return;
  }
  AtomicFile file(o.out);
  const std::size_t count =
      write_lists(o, form, [&](const std::string& text) { file.write(text); });
  file.commit();
  fmt::print("{}: up to {} items each for {} users\n", one_line(o.out), o.k, count);
}

}  // namespace

void add_recommend(CLI::App& app) {
  const auto o = std::make_shared<RecommendOptions>();
  auto* recommend =
      app.add_subcommand("recommend", "recommend items to users with an exported model");
  recommend->add_option("model", o->model, "folder of the model")->required();
  auto* user = recommend->add_option("--user", o->user, "id of a user");
  auto* users =
      recommend->add_option("--users", o->users, "file of ids, one a line; - for standard input")
          ->excludes(user);
  auto* all = recommend->add_flag("--all-users", o->all, "every user of the model")
                  ->excludes(user)
                  ->excludes(users);
  recommend->add_option("--history", o->history, kHistoryHelp)
      ->excludes(user)
      ->excludes(users)
      ->excludes(all);
  recommend->add_option("-k", o->k, "number of items a user")
      ->check(whole_within(1, 1'000'000'000))
      ->capture_default_str();
  recommend->add_flag("--include-seen", o->include_seen, "also recommend items rated in training");
  recommend->add_flag("--json", o->json, "a line of JSON a user");
  recommend->add_option("--out", o->out, "file: .csv, or .jsonl with a line of JSON a user");
  recommend->callback([o] {
    if (!o->user && !o->users && !o->history && !o->all) {
      fail(ErrorKind::usage, "recommend: needs --user, --users, --all-users or --history");
    }
    recommend_command(*o);
  });
}

}  // namespace mf
