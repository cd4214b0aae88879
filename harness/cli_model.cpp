#include "harness/cli_model.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "harness/commands.hpp"

namespace mf {
namespace {

// Calls body(words, "path:number") for each line with words. A line must have `least` to `most`
// words. If body returns false, the words are not as `expected`. If ids are names, a line with a
// tab, or with one id, is cut only at tabs.
template <class Body>
void for_lines(const std::string& path, bool names, std::size_t least, std::size_t most,
               const char* expected, const Body& body) {
  constexpr const char* kBlanks = " \t\r";
  std::ifstream file;
  if (path != "-") file.open(path);
  if (path != "-" && !file) fail(ErrorKind::data, "{}: cannot be read", path);
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  for (std::int64_t at = 1; std::getline(in, text); ++at) {
    std::string_view line = text;
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (line.empty()) continue;
    line.remove_suffix(line.size() - 1 - line.find_last_not_of(kBlanks));
    const bool at_tabs = names && (most == 1 || line.find('\t') != line.npos);
    const char* blanks = at_tabs ? "\t\r" : kBlanks;
    std::vector<std::string_view> words;
    for (std::size_t begin = 0; begin != line.npos;) {
      const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
      words.push_back(line.substr(begin, end - begin));
      begin = line.find_first_not_of(blanks, end);
    }
    const std::string where = fmt::format("{}:{}", path, at);
    const bool fits = words.size() >= least && words.size() <= most;
    if (fits && body(words, where)) continue;
    const bool cut = names && words.size() > most;
    fail(ErrorKind::data, "{}: found {}, expected {}{}", where, in_quotes(line), expected,
         cut ? ", with a tab between them if an id has blanks" : "");
  }
}

bool has_names(const SavedModel& model) {
  return !model.users.names.empty() || !model.items.names.empty();
}

std::string shown(const ModelIds& ids, std::string_view id) {
  return ids.names.empty() ? std::string(id) : in_quotes(id);
}

// `side` is "user" or "item", and `where` begins the message. `trained`: refuses other rows.
std::int64_t known_row(const ModelIds& ids, std::string_view id, const char* side,
                       const std::string& where, View<const std::uint8_t> trained = {}) {
  const auto row = ids.row(id);
  if (row && (trained.empty() || trained[*row] != 0)) return *row;
  if (row)
    fail(ErrorKind::data,
         "{}: the {} {} has no rating in training: all such {}s have one prediction; --cold gives "
         "it",
         where, side, shown(ids, id), side);
  fail(ErrorKind::data, "{}: the model knows no {} {}; it has {} {}s, such as {}", where, side,
       shown(ids, id), ids.ids.size(), side, shown(ids, ids.name(0)));
}

}  // namespace

void for_pairs(const std::string& path, const SavedModel& model,
               const std::function<void(std::int64_t user, std::int64_t item)>& body, bool cold) {
  View<const std::uint8_t> users, items;
  if (!cold) users = model.predictor.known_user(), items = model.predictor.known_item();
  const auto on_line = [&](const auto& words, const std::string& where) {
    const std::int64_t user = known_row(model.users, words[0], "user", where, users);
    body(user, known_row(model.items, words[1], "item", where, items));
    return true;
  };
  for_lines(path, has_names(model), 2, 2, "a user id and an item id", on_line);
}

std::vector<RowRating> read_history(const std::string& path, const SavedModel& model) {
  std::vector<RowRating> history;
  const auto on_line = [&](const auto& words, const std::string& /*where*/) {
    float value = 1;
    if (words.size() == 2) {
      const char* const last = words[1].data() + words[1].size();
      const auto [end, error] = std::from_chars(words[1].data(), last, value);
      if (error != std::errc() || end != last || !std::isfinite(value)) return false;
    }
    const auto item = model.items.row(words[0]);
    if (item) {
      history.push_back({static_cast<std::int32_t>(*item), value});
    } else {
      warn("the model knows no item {}; it is left out of the history",
           shown(model.items, words[0]));
    }
    return true;
  };
  for_lines(path, !model.items.names.empty(), 1, 2, "an item id and perhaps a value", on_line);
  return history;
}

namespace {

// Whole numbers if ids are, else text.
Json id_json(const ModelIds& ids, std::int64_t row) {
  return ids.names.empty() ? Json(ids.ids[row]) : Json(ids.name(row));
}

void predict_command(const std::string& folder, const std::string& pairs, bool cold, bool json) {
  const SavedModel model = load_model(folder);
  const char* between = has_names(model) ? "\t" : " ";
  for_pairs(
      pairs, model,
      [&](std::int64_t user, std::int64_t item) {
        if (json) {
          fmt::print("{}\n", json_text({{"user", id_json(model.users, user)},
                                        {"item", id_json(model.items, item)},
                                        {"prediction", model.predict(model.user(user), item)}}));
          return;
        }
        fmt::print("{}{}{}{}{:.4f}\n", printable(model.users.name(user)), between,
                   printable(model.items.name(item)), between,
                   model.predict(model.user(user), item));
      },
      cold);
}

struct RecommendOptions {
  std::string model;
  std::optional<std::string> user, users, history;
  bool all = false, json = false, include_seen = false;
  int k = 10;
};

// The list of a new user if there is no `row`. In a text for many users, each line begins with the
// user.
std::string list_of(const SavedModel& model, const RecommendOptions& o,
                    std::optional<std::int64_t> row, const ModelUser& user) {
  const char* between = has_names(model) ? "\t" : " ";
  const std::string before = row && !o.user ? printable(model.users.name(*row)) + between : "";
  Json list = Json::array();
  std::string text;
  for (const auto& [item, score] : model.recommend(user, o.k, o.include_seen)) {
    if (!o.json) {
      text += fmt::format("{}{}{}{}\n", before, printable(model.items.name(item)), between, score);
      continue;
    }
    // The fewest digits that give the float back.
    const double few = std::strtod(fmt::format("{}", score).c_str(), nullptr);
    list.push_back({{"item", id_json(model.items, item)}, {"score", few}});
  }
  if (!o.json) return text;
  return json_text({{"user", row ? id_json(model.users, *row) : Json()}, {"items", list}}) + "\n";
}

std::vector<std::int64_t> asked_users(const SavedModel& model, const RecommendOptions& o) {
  if (o.user) return {known_row(model.users, *o.user, "user", "--user")};
  std::vector<std::int64_t> users(o.users ? 0 : model.users.ids.size());
  std::iota(users.begin(), users.end(), 0);
  const auto on_line = [&](const auto& words, const std::string& where) {
    users.push_back(known_row(model.users, words[0], "user", where));
    return true;
  };
  if (o.users) for_lines(*o.users, !model.users.names.empty(), 1, 1, "a user id", on_line);
  return users;
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

void recommend_command(const RecommendOptions& o) {
  const SavedModel model = load_model(o.model);
  if (o.history) {
    const ModelUser user = model.fold_in(read_history(*o.history, model));
    if (user.seen.empty()) {  // every such user would get the same list
      fail(ErrorKind::data, "{}: found no item that the model knows, expected at least one",
           *o.history);
    }
    fmt::print("{}", list_of(model, o, {}, user));
    return;
  }
  const auto users = asked_users(model, o);
  warn_of_unknown(model, users);
  constexpr std::int64_t kBlock = 1024;  // at a time, so that many lists need no memory
  ThreadTeam team(hardware_threads());
  for (std::int64_t first = 0; first < std::ssize(users); first += kBlock) {
    const std::int64_t count = std::min(kBlock, std::ssize(users) - first);
    std::vector<std::string> texts(static_cast<std::size_t>(count));
    team.for_chunks(count, 1, [&](std::int64_t begin, std::int64_t) {
      const std::int64_t user = users[first + begin];
      texts[begin] = list_of(model, o, user, model.user(user));
    });
    for (const auto& text : texts) fmt::print("{}", text);
  }
}

}  // namespace

void add_model_commands(CLI::App& app) {
  auto* predict = app.add_subcommand("predict", "predict ratings with an exported model");
  const auto pairs = std::make_shared<std::string>("-");
  const auto cold = std::make_shared<bool>(false);
  const auto o = std::make_shared<RecommendOptions>();
  predict->add_option("model", o->model, "folder of the model")->required();
  predict->add_option("--pairs", *pairs, "file of lines \"user item\"; - for standard input");
  predict->add_flag("--cold", *cold, "also for users and items without a rating in training");
  predict->add_flag("--json", o->json, "a line of JSON a pair");
  predict->callback([o, pairs, cold] { predict_command(o->model, *pairs, *cold, o->json); });

  auto* recommend =
      app.add_subcommand("recommend", "recommend items to users with an exported model");
  recommend->add_option("model", o->model, "folder of the model")->required();
  auto* user = recommend->add_option("--user", o->user, "id of a user");
  auto* users =
      recommend->add_option("--users", o->users, "file of ids, one a line; - for standard input")
          ->excludes(user);
  auto* all =
      recommend->add_flag("--all-users", o->all, "every user of the model")->excludes(user, users);
  recommend
      ->add_option("--history", o->history, "a new user: file of lines \"item value\" or \"item\"")
      ->excludes(user, users, all);
  recommend->add_option("-k", o->k, "number of items a user")
      ->check(whole_within(1, 1'000'000'000))
      ->capture_default_str();
  recommend->add_flag("--include-seen", o->include_seen, "also recommend items rated in training");
  recommend->add_flag("--json", o->json, "a line of JSON a user");
  recommend->callback([o] {
    if (!o->user && !o->users && !o->history && !o->all) {
      fail(ErrorKind::usage, "recommend: needs --user, --users, --all-users or --history");
    }
    recommend_command(*o);
  });
}

}  // namespace mf
