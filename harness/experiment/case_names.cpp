#include "harness/experiment/case_names.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

namespace mf {
namespace {

constexpr std::size_t kLongestId = kLongestFileName - std::string_view(".jsonl").size();
constexpr std::size_t kLongestAlgorithm = 30;
constexpr std::size_t kLongestWord = 30;

// Keys of one section joined by dots ("plateau.patience"), in the order of the resolved case.
struct Setting {
  std::string section;  // params, schedule, init, stop, evaluate or split
  std::string key;
  Json value;
};
using Settings = std::vector<Setting>;

void flatten(const Json& json, const std::string& section, const std::string& prefix,
             Settings& out) {
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) {
      flatten(value, section, prefix + key + ".", out);
    } else {
      out.push_back({section, prefix + key, value});
    }
  }
}

Settings settings_of(const Case& item) {
  Settings all;
  for (const char* section : {"params", "schedule", "init", "stop"}) {
    flatten(item.resolved.at(section), section, "", all);
  }
  all.push_back({"evaluate", "every", item.resolved.at("evaluate").at("every")});
  return all;
}

// Without its seed and its fold, which are a repeat's.
Settings split_of(const Case& item) {
  Json split = item.resolved.at("split");
  split.erase("seed");
  split.erase("fold");
  Settings all;
  flatten(split, "split", "", all);
  return all;
}

// The values that each setting has in the cases of a group.
class Values {
 public:
  void add(const Settings& settings) {
    ++cases_;
    for (const auto& one : settings) {
      Seen& seen = seen_[{one.section, one.key}];
      ++seen.cases;
      seen.values.insert(one.value.dump());
    }
  }

  // A setting that only some of the cases have differs too, but not in a section of several kinds,
  // whose kind differs.
  Settings differing(Settings settings) const {
    std::erase_if(settings, [&](const Setting& one) {
      const Seen& seen = seen_.at({one.section, one.key});
      const bool has_kinds =
          one.section == "schedule" || (one.section == "init" && one.key != "model");
      return seen.values.size() == 1 && (seen.cases == cases_ || has_kinds);
    });
    return settings;
  }

 private:
  struct Seen {
    int cases = 0;
    std::set<std::string> values;
  };
  int cases_ = 0;
  std::map<std::pair<std::string, std::string>, Seen> seen_;
};

// "learning_rate" if no other of `all` ends like it, else "schedule.learning_rate"; a kind is
// always "schedule.kind".
std::string short_key(const Setting& setting, const Settings& all) {
  const std::string last = leaf(setting.key);
  const auto alike = std::count_if(all.begin(), all.end(),
                                   [&](const Setting& other) { return leaf(other.key) == last; });
  return alike > 1 || last == "kind" ? setting.section + "." + setting.key : last;
}

// " factors=50 threads=2"
std::string text_of(const Settings& settings) {
  std::string text;
  for (const auto& one : settings) {
    text += fmt::format(" {}={}", short_key(one, settings), setting_text(one.value));
  }
  return text;
}

// "stride250", "reg_item_bias_-1", "order_random", "graph_false"
std::string word_of(const Setting& setting, const Settings& all) {
  if (setting.section == "init" && setting.key == "model") return "from_model";  // not its folder
  std::string key = setting.key == "kind" ? setting.section : short_key(setting, all);
  if (key == "learning_rate") key = "lr";
  std::replace(key.begin(), key.end(), '.', '_');
  const Json& value = setting.value;
  if (!value.is_number()) return key + "_" + slug(setting_text(value));
  const std::string number = setting_text(value);
  const bool apart = number[0] == '-' || std::isdigit(static_cast<unsigned char>(key.back())) != 0;
  return key + (apart ? "_" : "") + number;
}

// "-stride250-lr0.02": whole words, the first ones, in at most `room` bytes.
std::string words_of(const Settings& all, std::size_t room) {
  std::string text;
  for (const auto& setting : all) {
    if (setting.section == "params" && setting.key == "factors") continue;  // always shown
    const std::string word = word_of(setting, all);
    if (word.size() > kLongestWord || text.size() + 1 + word.size() > room) continue;
    text += "-" + word;
  }
  return text;
}

// "s2", or "s2-fold3" of a split in folds.
std::string repeat_of(const Case& item, const char* between) {
  const std::string seed = fmt::format("s{}", item.seed);
  if (item.split.kind != SplitSpec::Kind::folds) return seed;
  return fmt::format("{}{}fold{}", seed, between, item.split.fold);
}

std::string id_of(const Case& item, const Settings& differing) {
  std::string start = item.algorithm.substr(0, kLongestAlgorithm);
  std::replace(start.begin(), start.end(), ':', '-');  // of a peer
  if (item.params.has("factors")) start += fmt::format("-f{}", item.params.integer("factors"));
  const std::string end = fmt::format("-{}-{}", repeat_of(item, "-"), item.hash.substr(0, 10));
  std::string label = slug(item.data.label()).substr(0, kLongestId - start.size() - end.size() - 1);
  if (!label.empty()) label = "-" + label;
  const std::size_t room = kLongestId - start.size() - label.size() - end.size();
  return start + words_of(differing, room) + label + end;
}

}  // namespace

std::string slug(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (plain) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  return out.substr(0, 60);
}

std::string leaf(const std::string& key) { return key.substr(key.rfind('.') + 1); }

std::string setting_text(const Json& value) {
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());  // 250 for 250.0
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void name_cases(std::vector<Case>& cases) {
  std::map<std::string, Values> of_algorithm, of_data;
  std::set<std::string> repeats;
  for (const auto& item : cases) {
    of_algorithm[item.algorithm].add(settings_of(item));
    of_data[item.data.label()].add(split_of(item));
    repeats.insert(repeat_of(item, " "));
  }
  for (auto& item : cases) {
    Settings all = of_algorithm[item.algorithm].differing(settings_of(item));
    const Settings split = of_data[item.data.label()].differing(split_of(item));
    const std::string settings = text_of(all), splits = text_of(split);
    item.name = item.algorithm + settings;
    item.data_name = item.data.label() + splits;
    // Long names lose their end first.
    item.title = item.algorithm + (repeats.size() > 1 ? " " + repeat_of(item, " ") : "") +
                 settings + splits + (of_data.size() > 1 ? " on " + item.data.label() : "");
    all.insert(all.end(), split.begin(), split.end());
    item.id = id_of(item, all);
  }
}

}  // namespace mf
