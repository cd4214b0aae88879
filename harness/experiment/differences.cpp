#include "harness/experiment/differences.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace mf {
namespace {

void flatten(const Json& json, const std::string& section, const std::string& prefix,
             std::vector<Setting>& out) {
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) {
      flatten(value, section, prefix + key + ".", out);
    } else {
      out.push_back({section, prefix + key, value});
    }
  }
}

std::vector<Setting> settings_of(const Case& item) {
  std::vector<Setting> all;
  for (const char* section : {"params", "schedule", "init", "stop"}) {
    flatten(item.resolved.at(section), section, "", all);
  }
  all.push_back({"evaluate", "every", item.resolved.at("evaluate").at("every")});
  return all;
}

std::vector<Setting> split_of(const Case& item) {
  Json split = item.resolved.at("split");
  split.erase("seed");
  split.erase("fold");
  std::vector<Setting> all;
  flatten(split, "split", "", all);
  return all;
}

bool has_kinds(const std::string& section) { return section == "schedule" || section == "init"; }

// The values that each setting has in the cases of a group.
class Values {
 public:
  void add(const std::vector<Setting>& settings) {
    ++cases_;
    for (const auto& one : settings) {
      Seen& seen = seen_[{one.section, one.key}];
      ++seen.cases;
      seen.values.insert(one.value.dump());
    }
  }

  std::vector<Setting> differing(const std::vector<Setting>& settings) const {
    std::vector<Setting> out;
    std::copy_if(settings.begin(), settings.end(), std::back_inserter(out), [&](const auto& one) {
      const Seen& seen = seen_.at({one.section, one.key});
      return seen.values.size() > 1 || (seen.cases < cases_ && !has_kinds(one.section));
    });
    return out;
  }

 private:
  struct Seen {
    int cases = 0;
    std::set<std::string> values;
  };
  int cases_ = 0;
  std::map<std::pair<std::string, std::string>, Seen> seen_;
};

}  // namespace

std::vector<Differences> differences(const std::vector<Case>& cases) {
  std::map<std::string, Values> of_algorithm, of_data;
  for (const auto& item : cases) {
    of_algorithm[item.algorithm].add(settings_of(item));
    of_data[item.data.label()].add(split_of(item));
  }
  std::vector<Differences> all;
  all.reserve(cases.size());
  for (const auto& item : cases) {
    all.push_back({of_algorithm[item.algorithm].differing(settings_of(item)),
                   of_data[item.data.label()].differing(split_of(item))});
  }
  return all;
}

std::string short_key(const Setting& setting, const std::vector<Setting>& all) {
  const std::string last = leaf(setting.key);
  const auto alike = std::count_if(all.begin(), all.end(),
                                   [&](const Setting& other) { return leaf(other.key) == last; });
  return alike > 1 || last == "kind" ? setting.section + "." + setting.key : last;
}

std::string leaf(const std::string& key) { return key.substr(key.rfind('.') + 1); }

std::string setting_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string with_settings(std::string name, const std::vector<Setting>& settings) {
  for (const auto& one : settings) {
    name += fmt::format(" {}={}", short_key(one, settings), setting_text(one.value));
  }
  return name;
}

}  // namespace mf
