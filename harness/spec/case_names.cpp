#include "harness/spec/case_names.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "harness/spec/differences.hpp"

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
  return key + "_" + slug(value.is_string() ? value.get<std::string>() : value.dump());
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

std::string id_of(const Case& item, const Differences& differing) {
  std::string start = item.algorithm.substr(0, kLongestAlgorithm);
  std::replace(start.begin(), start.end(), ':', '-');  // of a peer
  if (item.params.has("factors")) start += fmt::format("-f{}", item.params.integer("factors"));
  const std::string end = fmt::format("-s{}-{}", item.seed, item.hash.substr(0, 10));
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

void name_cases(std::vector<Case>& cases) {
  const auto differing = differences(cases);
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].id = id_of(cases[i], differing[i]);
}

}  // namespace mf
