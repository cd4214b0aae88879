// `mfbench recommend`: the best items of one user or of many, for a terminal or for other programs.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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
  std::string model, user, users, history, out;
  bool all = false, json = false, include_seen = false;
  int k = 10;
};

// Items with their scores, best first.
using RankedItems = std::vector<std::pair<std::int32_t, float>>;

// In as few digits as give the float back.
double few_digits(float score) { return std::strtod(fmt::format("{}", score).c_str(), nullptr); }

// Whole numbers where ids are, else text.
Json id_json(const IdNames& names, std::int32_t key) {
  return names.empty() ? Json(key) : Json(std::string(names[key]));
}

// Lists as lines. Without a user, of a history.
class ListWriter {
 public:
  ListWriter(const SavedModel& model, ListForm form) : model_(model), form_(form) {}

  std::string head() const { return form_ == ListForm::csv ? "user,item,score\n" : ""; }

  // `named`: in text, the user stands before each item.
  std::string lines(const std::optional<std::int32_t>& user, const RankedItems& items,
                    bool named) const {
    const Json id = user ? id_json(model_.user_names, *user) : Json();
    if (form_ == ListForm::json) return json_line(id, items);
    std::string text;
    for (const auto& [item, score] : items) {
      text += form_ == ListForm::csv ? csv_line(id, item, score)
                                     : text_line(named ? user : std::nullopt, item, score);
    }
    return text;
  }

 private:
  std::string json_line(const Json& user, const RankedItems& items) const {
    Json list = Json::array();
    for (const auto& [item, score] : items) {
      list.push_back({{"item", id_json(model_.item_names, item)}, {"score", few_digits(score)}});
    }
    return json_text({{"user", user}, {"items", list}}) + "\n";
  }

  std::string csv_line(const Json& user, std::int32_t item, float score) const {
    return csv_cell(user) + "," + csv_cell(id_json(model_.item_names, item)) + "," +
           fmt::format("{}\n", score);
  }

  std::string text_line(const std::optional<std::int32_t>& user, std::int32_t item,
                        float score) const {
    const char* between = separator_of(model_);
    const std::string before = user ? printable(model_.user_name(*user)) + between : "";
    return fmt::format("{}{}{}{:.4f}\n", before, printable(model_.item_name(item)), between, score);
  }

  const SavedModel& model_;
  ListForm form_;
};

using WriteText = std::function<void(const std::string&)>;

// A block at a time, so that lists of many users need no memory.
void write_lists(const SavedModel& model, const std::vector<std::int32_t>& users,
                 const RecommendOptions& o, const ListWriter& writer, const WriteText& write) {
  constexpr std::int64_t kBlock = 1024;
  ThreadTeam team(hardware_threads());
  for (std::int64_t first = 0; first < std::ssize(users); first += kBlock) {
    const std::int64_t count = std::min(kBlock, std::ssize(users) - first);
    std::vector<std::string> texts(static_cast<std::size_t>(count));
    team.for_chunks(count, 1, [&](std::int64_t begin, std::int64_t) {
      const std::int32_t user = users[first + begin];
      texts[begin] = writer.lines(user, model.recommend(user, o.k, o.include_seen), true);
    });
    for (const auto& text : texts) write(text);
  }
}

// For --user, --users or --all-users.
std::vector<std::int32_t> asked_users(const SavedModel& model, const RecommendOptions& o) {
  if (!o.user.empty()) return {known_user(model, o.user)};
  if (o.all) return model.user_ids;
  return read_users(o.users, model);
}

void warn_of_unknown(const SavedModel& model, const std::vector<std::int32_t>& users) {
  const auto known = [&](std::int32_t user) { return model.has_history(user); };
  const auto first = std::find_if_not(users.begin(), users.end(), known);
  if (first == users.end()) return;
  warn(
      "{} of {} users have no rating in training, the first is {}: their lists are not their own "
      "but the same for all such users; --history FILE lists by what a user has seen",
      users.end() - first - std::count_if(first, users.end(), known), users.size(),
      model.user_name(*first));
}

// Returns for how many users.
std::size_t write_asked(const SavedModel& model, const RecommendOptions& o, ListForm form,
                        const WriteText& write) {
  const ListWriter writer(model, form);
  if (!o.history.empty()) {
    const FoldedUser user = model.fold_in(read_history(o.history, model));
    refuse_empty(user, o.history);
    const auto items = model.recommend(user, o.k, o.include_seen);
    write(writer.head() + writer.lines({}, items, false));
    return 1;
  }
  const auto users = asked_users(model, o);
  warn_of_unknown(model, users);
  write(writer.head());
  if (o.user.empty()) {
    write_lists(model, users, o, writer, write);
  } else {
    write(writer.lines(users[0], model.recommend(users[0], o.k, o.include_seen), false));
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
  const SavedModel model = load_model(o.model);
  if (o.out.empty()) {
    write_asked(model, o, form, [](const std::string& text) { fmt::print("{}", text); });
    return;
  }
  AtomicFile file(o.out);
  const std::size_t count =
      write_asked(model, o, form, [&](const std::string& text) { file.write(text); });
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
  auto* history =
      add_history(recommend, o->history)->excludes(user)->excludes(users)->excludes(all);
  recommend->add_option("-k", o->k, "number of items a user")
      ->check(whole_within(1, 1'000'000'000))
      ->capture_default_str();
  recommend->add_flag("--include-seen", o->include_seen, "also recommend items rated in training");
  recommend->add_flag("--json", o->json, "a line of JSON a user");
  recommend->add_option("--out", o->out, "file: .csv, or .jsonl with a line of JSON a user");
  recommend->callback([o, user, users, all, history] {
    if (user->count() + users->count() + all->count() + history->count() == 0) {
      fail(ErrorKind::usage, "recommend: needs --user, --users, --all-users or --history");
    }
    recommend_command(*o);
  });
}

}  // namespace mf
