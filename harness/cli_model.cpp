#include "harness/cli_model.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "harness/commands.hpp"

namespace mf {
namespace {

// ---- lines of files, by the ids of a model ------------------------------------------------------

bool has_names(const SavedModel& model) {
  return !model.user_names.empty() || !model.item_names.empty();
}

std::vector<std::string_view> words_of(std::string_view line, bool names) {
  const bool tabs = names && line.find('\t') != line.npos;
  const std::string_view kBlanks = tabs ? "\t\r" : " \t\r";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

// The whole word, within the range of T; nothing else.
template <class T>
std::optional<T> number(std::string_view word) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// Calls body(line, its number) for every line of a file or of standard input ("-") that is not
// blank, without blanks at its ends.
template <class Body>
void for_texts(const std::string& path, const Body& body) {
  constexpr std::string_view kBlanks = " \t\r";
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) fail(ErrorKind::data, "{}: cannot be read", path);
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string line;
  for (std::int64_t at = 1; std::getline(in, line); ++at) {
    const std::size_t first = line.find_first_not_of(kBlanks);
    if (first == line.npos) continue;
    const std::size_t last = line.find_last_not_of(kBlanks);
    body(std::string_view(line).substr(first, last + 1 - first), at);
  }
}

// Calls body(words) for every line with words; what it expected instead, or null.
template <class Body>
void for_lines(const std::string& path, bool names, const Body& body) {
  for_texts(path, [&](std::string_view line, std::int64_t at) {
    const char* expected = body(words_of(line, names));
    if (expected == nullptr) return;
    fail(ErrorKind::data, "{}:{}: found {}, expected {}", path, at, in_quotes(line), expected);
  });
}

// For an option; `key` is what the model makes of it.
GivenId given_id(const char* option, const char* whose, const std::string& text,
                 const std::optional<std::int32_t>& key) {
  if (key) return {text, *key};
  fail(ErrorKind::usage,
       "{}: found {}, expected a whole number of 32 bits: the ids of the {} of this model are "
       "integers",
       option, in_quotes(text), whose);
}

GivenId given_user(const SavedModel& model, const std::string& text) {
  return given_id("--user", "users", text, model.user_key(text));
}

// `where` begins the message.
void check_user(const SavedModel& model, const GivenId& user, const std::string& where) {
  if (model.knows_user(user.key)) return;
  const bool named = !model.user_names.empty();
  fail(ErrorKind::data, "{}the model knows no user {}; it has {} users, such as {}", where,
       named ? in_quotes(user.text) : user.text, model.user_ids.size(),
       named ? in_quotes(model.user_names[0]) : std::to_string(model.user_ids[0]));
}

GivenId given_item(const SavedModel& model, const std::string& text) {
  return given_id("--item", "items", text, model.item_key(text));
}

}  // namespace

void for_pairs(const std::string& path, const SavedModel& model,
               const std::function<void(const GivenId& user, const GivenId& item)>& body) {
  const bool names = has_names(model);
  const char* expected = names ? "a user id and an item id of the model, with a tab between them "
                                 "where an id has blanks"
                               : "a user id and an item id, whole numbers of 32 bits";
  for_lines(path, names, [&](const std::vector<std::string_view>& words) -> const char* {
    const auto user = model.user_key(words[0]);
    const auto item = words.size() == 2 ? model.item_key(words[1]) : std::nullopt;
    if (!user || !item) return expected;
    body({std::string(words[0]), *user}, {std::string(words[1]), *item});
    return nullptr;
  });
}

std::vector<HistoryItem> read_history(const std::string& path, const SavedModel& model) {
  const bool names = !model.item_names.empty();
  const char* expected = names
                             ? "an item id and perhaps a value, with a tab between them where the "
                               "id has blanks"
                             : "an item id, a whole number of 32 bits, and perhaps a value";
  std::vector<HistoryItem> history;
  for_lines(path, names, [&](const std::vector<std::string_view>& words) -> const char* {
    const auto item = model.item_key(words[0]);
    const auto value = words.size() == 1 ? std::optional(1.0F) : number<float>(words[1]);
    if (!item || words.size() > 2 || !value || !std::isfinite(*value)) return expected;
    if (names && *item < 0) {
      warn("the model knows no item {}; it is left out of the history", in_quotes(words[0]));
    } else {
      history.push_back({*item, *value});
    }
    return nullptr;
  });
  return history;
}

void refuse_empty(const FoldedUser& user, const std::string& path) {
  if (!user.seen.empty()) return;
  fail(ErrorKind::data, "{}: found no item that the model knows, expected at least one", path);
}

std::int32_t known_user(const SavedModel& model, const std::string& user) {
  const GivenId given = given_user(model, user);
  check_user(model, given, "--user: ");
  return given.key;
}

std::vector<std::int32_t> read_users(const std::string& path, const SavedModel& model) {
  std::vector<std::int32_t> users;
  for_texts(path, [&](std::string_view line, std::int64_t at) {
    const std::string id(line);
    const auto key = model.user_key(id);
    if (!key) {
      fail(ErrorKind::data, "{}:{}: found {}, expected a user id, a whole number of 32 bits", path,
           at, in_quotes(id));
    }
    check_user(model, {id, *key}, fmt::format("{}:{}: ", path, at));
    users.push_back(*key);
  });
  return users;
}

CLI::Option* add_history(CLI::App* command, std::string& path) {
  return command->add_option("--history", path,
                             "a new user: file of lines \"item value\" or \"item\"");
}

// Between the columns of what is printed: text may have blanks in it.
const char* separator_of(const SavedModel& model) { return has_names(model) ? "\t" : " "; }

namespace {

// ---- the commands -------------------------------------------------------------------------------

// Ids are refused by one rule: what the model does not know has no prediction of its own. --cold
// asks for that of the evaluator, by the side that is known.
void check_known(const SavedModel& model, const GivenId* user, const GivenId& item) {
  constexpr const char* kAdvice = "--cold predicts by what is known";
  if (user != nullptr && !model.knows_user(user->key)) {
    fail(ErrorKind::data, "the model knows no user {}; {}", user->text, kAdvice);
  }
  if (!model.knows_item(item.key)) {
    fail(ErrorKind::data, "the model knows no item {}; {}", item.text, kAdvice);
  }
}

void predict_pairs(const SavedModel& model, const std::string& path, bool cold) {
  const char* between = separator_of(model);
  for_pairs(path, model, [&](const GivenId& user, const GivenId& item) {
    if (!cold) check_known(model, &user, item);
    fmt::print("{}{}{}{}{:.4f}\n", printable(user.text), between, printable(item.text), between,
               model.predict(user.key, item.key));
  });
}

struct PredictOptions {
  std::string model, user, item, history;
  std::string pairs = "-";
  bool cold = false;
};

using Given = std::shared_ptr<PredictOptions>;

void add_predict(CLI::App& app, const Given& o) {
  auto* predict = app.add_subcommand("predict", "predict ratings with an exported model");
  predict->add_option("model", o->model, "folder of the model")->required();
  auto* user = predict->add_option("--user", o->user, "id of a user");
  auto* item = predict->add_option("--item", o->item, "id of an item");
  user->needs(item);
  auto* pairs =
      predict->add_option("--pairs", o->pairs, "file of lines \"user item\"; - for standard input")
          ->excludes(user);
  auto* history = add_history(predict, o->history)->needs(item)->excludes(user)->excludes(pairs);
  predict->add_flag("--cold", o->cold,
                    "also predict for users and items that the model does not know");
  predict->callback([o, user, item, history] {
    if (item->count() > 0 && user->count() + history->count() == 0) {
      fail(ErrorKind::usage, "--item: needs --user, or --history for a user of its own");
    }
    const SavedModel model = load_model(o->model);
    if (history->count() > 0) {
      const GivenId one = given_item(model, o->item);
      if (!o->cold) check_known(model, nullptr, one);
      const FoldedUser of = model.fold_in(read_history(o->history, model));
      if (!o->cold) refuse_empty(of, o->history);
      fmt::print("{:.4f}\n", model.predict(of, one.key));
    } else if (user->count() > 0) {
      const GivenId of = given_user(model, o->user);
      const GivenId one = given_item(model, o->item);
      if (!o->cold) check_known(model, &of, one);
      fmt::print("{:.4f}\n", model.predict(of.key, one.key));
    } else {
      predict_pairs(model, o->pairs, o->cold);
    }
  });
}

}  // namespace

void add_model_commands(CLI::App& app) {
  add_predict(app, std::make_shared<PredictOptions>());
  add_recommend(app);
}

}  // namespace mf
