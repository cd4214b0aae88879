#include "harness/experiment/case_names.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "harness/experiment/differences.hpp"

namespace mf {
namespace {

constexpr std::size_t kLongestId = kLongestFileName - std::string_view(".jsonl").size();
constexpr std::size_t kLongestAlgorithm = 30;
constexpr std::size_t kLongestWord = 30;

// Shorter where the field has a usual letter for it.
std::string abbreviated(const std::string& key) {
  static const std::map<std::string, std::string> kShort = {{"learning_rate", "lr"}};
  const auto found = kShort.find(key);
  return found == kShort.end() ? key : found->second;
}

// 250 for 250.0
std::string number_text(const Json& value) {
  return value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
}

// "stride250", "reg_item_bias_-1", "order_random", "graph_false"
std::string word_of(const Setting& setting, const std::vector<Setting>& all) {
  std::string key = short_key(setting, all);
  if (setting.key == "kind") key = setting.section;
  key = abbreviated(key);
  std::replace(key.begin(), key.end(), '.', '_');
  const Json& value = setting.value;
  if (value.is_number()) {
    const std::string number = number_text(value);
    const bool apart =
        number[0] == '-' || std::isdigit(static_cast<unsigned char>(key.back())) != 0;
    return key + (apart ? "_" : "") + number;
  }
  return key + "_" + slug(setting_text(value));
}

// "-stride250-lr0.02": whole words, the first ones, in at most `room` bytes.
std::string words_of(const Differences& differing, std::size_t room) {
  std::vector<Setting> all = differing.settings;
  all.insert(all.end(), differing.split.begin(), differing.split.end());
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

std::string id_of(const Case& item, const Differences& differing) {
  std::string start = item.algorithm.substr(0, kLongestAlgorithm);
  std::replace(start.begin(), start.end(), ':', '-');  // of a peer
  if (item.params.has("factors")) start += fmt::format("-f{}", item.params.integer("factors"));
  const std::string end = fmt::format("-{}-{}", repeat_of(item, "-"), item.hash.substr(0, 10));
  std::string label = slug(item.data.label()).substr(0, kLongestId - start.size() - end.size() - 1);
  if (!label.empty()) label = "-" + label;
  const std::size_t room = kLongestId - start.size() - label.size() - end.size();
  return start + words_of(differing, room) + label + end;
}

// "als_cpu s2 factors=16 lr=0.01 holdout=0.2 on ml-1m": the repeat and the data set where others of
// the spec have another. What is cut off first stands last.
std::string title_of(const Case& item, const Differences& differing, bool repeats, bool data) {
  std::string title = item.algorithm + (repeats ? " " + repeat_of(item, " ") : "");
  for (const auto* settings : {&differing.settings, &differing.split}) {
    for (const auto& one : *settings) {
      const std::string value =
          one.value.is_string() ? one.value.get<std::string>() : number_text(one.value);
      title += fmt::format(" {}={}", abbreviated(short_key(one, *settings)), value);
    }
  }
  return data ? title + " on " + item.data.label() : title;
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

void name_cases(std::vector<Case>& cases) {
  const auto differing = differences(cases);
  std::set<std::string> repeats;
  std::set<std::string> data;
  for (const auto& item : cases) {
    repeats.insert(repeat_of(item, " "));
    data.insert(item.data.label());
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].id = id_of(cases[i], differing[i]);
    cases[i].title = title_of(cases[i], differing[i], repeats.size() > 1, data.size() > 1);
  }
}

}  // namespace mf
