#include "harness/cli_model.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "harness/commands.hpp"

namespace mf {
namespace {

using LineWords = std::vector<std::string_view>;

LineWords words_of(std::string_view line, std::string_view blanks) {
  LineWords words;
  for (std::size_t at = line.find_first_not_of(blanks); at != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(blanks, end);
  }
  return words;
}

// Calls body(line without blanks at its ends, "path:number") for the lines that are not blank.
template <class Body>
void for_lines(const std::string& path, const Body& body) {
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
    body(std::string_view(line).substr(first, last + 1 - first), fmt::format("{}:{}", path, at));
  }
}

// Calls body(words) for the lines; false: the line is not as expected.
template <class Body>
void for_words(const std::string& path, bool names, const std::string& expected, const Body& body) {
  for_lines(path, [&](std::string_view line, const std::string& where) {
    const bool tabs = names && line.find('\t') != line.npos;
    if (body(words_of(line, tabs ? "\t\r" : " \t\r"))) return;
    fail(ErrorKind::data, "{}: found {}, expected {}{}", where, in_quotes(line), expected,
         names ? ", with a tab between them if an id has blanks" : "; ids are integers of 32 bits");
  });
}

// The whole word.
std::optional<float> number(std::string_view word) {
  float value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = error == std::errc() && end == word.data() + word.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

void for_pairs(const std::string& path, const SavedModel& model,
               const std::function<void(const GivenId& user, const GivenId& item)>& body) {
  for_words(path, has_names(model), "a user id and an item id", [&](const LineWords& words) {
    const auto user = model.users.row(words[0]);
    const auto item = words.size() == 2 ? model.items.row(words[1]) : std::nullopt;
    if (!user || !item) return false;
    body({std::string(words[0]), *user}, {std::string(words[1]), *item});
    return true;
  });
}

std::vector<RowRating> read_history(const std::string& path, const SavedModel& model) {
  const bool names = !model.items.names.empty();
  std::vector<RowRating> history;
  for_words(path, names, "an item id and perhaps a value", [&](const LineWords& words) {
    const auto item = model.items.row(words[0]);
    const auto value = words.size() == 1 ? std::optional(1.0F) : number(words[1]);
    if (!item || words.size() > 2 || !value) return false;
    if (*item >= 0) {
      history.push_back({static_cast<std::int32_t>(*item), *value});
    } else {
      warn("the model knows no item {}; it is left out of the history",
           names ? in_quotes(words[0]) : std::string(words[0]));
    }
    return true;
  });
  return history;
}

ModelUser read_new_user(const std::string& path, const SavedModel& model, bool cold) {
  ModelUser user = model.fold_in(read_history(path, model));
  if (cold || !user.seen.empty()) return user;
  fail(ErrorKind::data, "{}: found no item that the model knows, expected at least one", path);
}

std::vector<std::int64_t> read_users(const std::string& path, const SavedModel& model) {
  std::vector<std::int64_t> users;
  for_lines(path, [&](std::string_view line, const std::string& where) {
    const auto row = model.users.row(line);
    if (!row) {
      fail(ErrorKind::data, "{}: found {}, expected a user id, a whole number of 32 bits", where,
           in_quotes(line));
    }
    check_user(model, {std::string(line), *row}, where);
    users.push_back(*row);
  });
  return users;
}

GivenId given_id(const char* option, const std::string& text, const ModelIds& ids) {
  if (const auto row = ids.row(text)) return {text, *row};
  fail(ErrorKind::usage,
       "{}: found {}, expected a whole number of 32 bits: such ids of this model are integers",
       option, in_quotes(text));
}

void check_user(const SavedModel& model, const GivenId& user, const std::string& where) {
  if (user.row >= 0) return;
  const auto shown = [&](const std::string& id) {
    return model.users.names.empty() ? id : in_quotes(id);
  };
  fail(ErrorKind::data, "{}: the model knows no user {}; it has {} users, such as {}", where,
       shown(user.text), model.users.ids.size(), shown(model.users.name(0)));
}

namespace {

struct PredictOptions {
  std::string model;
  std::string pairs = "-";
  std::optional<std::string> user, item, history;
  bool cold = false;
};

void predict_command(const PredictOptions& o) {
  const SavedModel model = load_model(o.model);
  const auto check_known = [&](const char* what, const GivenId& one) {
    if (one.row >= 0 || o.cold) return;
    fail(ErrorKind::data, "the model knows no {} {}; --cold predicts by what is known", what,
         one.text);
  };
  if (!o.item) {
    const char* between = has_names(model) ? "\t" : " ";
    for_pairs(o.pairs, model, [&](const GivenId& user, const GivenId& item) {
      check_known("user", user);
      check_known("item", item);
      fmt::print("{}{}{}{}{:.4f}\n", printable(user.text), between, printable(item.text), between,
                 model.predict(model.user(user.row), item.row));
    });
    return;
  }
  const GivenId item = given_id("--item", *o.item, model.items);
  check_known("item", item);
  if (o.history) {
    const ModelUser user = read_new_user(*o.history, model, o.cold);
    return fmt::print("{:.4f}\n", model.predict(user, item.row));
  }
  const GivenId user = given_id("--user", *o.user, model.users);
  check_known("user", user);
  fmt::print("{:.4f}\n", model.predict(model.user(user.row), item.row));
}

}  // namespace

void add_predict(CLI::App& app) {
  const auto o = std::make_shared<PredictOptions>();
  auto* predict = app.add_subcommand("predict", "predict ratings with an exported model");
  predict->add_option("model", o->model, "folder of the model")->required();
  auto* user = predict->add_option("--user", o->user, "id of a user");
  auto* item = predict->add_option("--item", o->item, "id of an item");
  user->needs(item);
  auto* pairs =
      predict->add_option("--pairs", o->pairs, "file of lines \"user item\"; - for standard input")
          ->excludes(user);
  auto* history = predict->add_option("--history", o->history, kHistoryHelp);
  history->needs(item)->excludes(user)->excludes(pairs);
  predict->add_flag("--cold", o->cold,
                    "also predict for users and items that the model does not know");
  predict->callback([o] {
    if (o->item && !o->user && !o->history) {
      fail(ErrorKind::usage, "--item: needs --user, or --history for a user of its own");
    }
    predict_command(*o);
  });
}

}  // namespace mf
