#include "harness/results/compare/sides.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "harness/experiment/case_names.hpp"

namespace mf {
namespace {

constexpr const char* kAlgorithm = "algorithm";
constexpr const char* kDataset = "dataset";

// reg=.05 is reg=0.05.
bool is_value(const Json& value, const std::string& text) {
  if (setting_text(value) == text) return true;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return value.is_number() && error == std::errc() && end == text.data() + text.size() &&
         value.get<double>() == number;
}

// "solver" is params.solver.
bool is_called(const std::string& name, const std::string& word) {
  return name == word || name.ends_with("." + word);
}

bool has_setting(const Configuration& all, const std::pair<std::string, std::string>& setting) {
  return std::any_of(all.begin(), all.end(), [&](const auto& one) {
    return is_called(one.first, setting.first) && is_value(one.second, setting.second);
  });
}

bool has_settings(const Configuration& all, const ComparedSide& side) {
  return std::all_of(side.settings.begin(), side.settings.end(),
                     [&](const auto& one) { return has_setting(all, one); });
}

[[noreturn]] void fail_unknown_algorithm(const std::string& folder, const ComparedSide& side,
                                         const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  const std::string near = nearest(side.algorithm, names);
  fail(ErrorKind::usage, "--between: {} has no case of \"{}\"{}; it has {}", folder, side.algorithm,
       near.empty() ? "" : ", did you mean \"" + near + "\"?", join(names));
}

// The values of all settings that are called so.
std::set<std::string> values_called(const std::set<Configuration>& cases, const std::string& word) {
  std::set<std::string> values;
  for (const auto& all : cases) {
    for (const auto& [name, value] : all) {
      if (is_called(name, word)) values.insert(setting_text(value));
    }
  }
  return values;
}

[[noreturn]] void fail_no_such_case(const std::string& folder, const ComparedSide& side,
                                    const std::set<Configuration>& own) {
  std::vector<std::string> words;
  for (const auto& [word, value] : side.settings) {
    const auto values = values_called(own, word);
    words.push_back(values.empty() ? fmt::format("no setting \"{}\"", word)
                                   : word + " " + join({values.begin(), values.end()}));
  }
  fail(ErrorKind::usage, "--between: no case of {} is \"{}\"; those of {} have {}", folder,
       side.text, side.algorithm, join(words, "; "));
}

// Algorithms compete on the same ratings only.
bool must_agree(const std::string& name) {
  return name == kAlgorithm || name == kDataset || name.starts_with("dataset.") ||
         name.starts_with("split");
}

using ValuesOfSide = std::map<std::string, std::set<std::string>>;  // by name

ValuesOfSide values_on(const std::vector<const ComparedCase*>& cases,
                       const std::set<std::string>& names) {
  ValuesOfSide values;
  for (const auto* one : cases) {
    for (const auto& name : names) {
      const auto at = one->configuration.find(name);
      values[name].insert(at == one->configuration.end() ? "absent" : setting_text(at->second));
    }
  }
  return values;
}

bool are_disjoint(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::none_of(a.begin(), a.end(), [&](const auto& one) { return b.count(one) > 0; });
}

[[noreturn]] void fail_swept(const std::string& name, const ComparedSides& sides,
                             const std::set<std::string>& first,
                             const std::set<std::string>& second) {
  const bool in_first = first.size() > 1;
  const auto& several = in_first ? first : second;
  const auto& others = in_first ? second : first;
  const ComparedSide& side = sides[in_first ? 0 : 1];
  fail(ErrorKind::usage, "--between: {} has {} {}, and the other side {}; name one: \"{} {}={}\"",
       side.text, name, join({several.begin(), several.end()}, " and "),
       join({others.begin(), others.end()}, " and "), side.text, leaf(name), *several.begin());
}

// Settings that may differ on one data set.
std::set<std::string> names_apart(const std::vector<const ComparedCase*>& first,
                                  const std::vector<const ComparedCase*>& second,
                                  const ComparedSides& sides) {
  std::set<std::string> names;
  for (const auto* cases : {&first, &second}) {
    for (const auto* one : *cases) {
      for (const auto& [name, value] : one->configuration) names.insert(name);
    }
  }
  std::erase_if(names, must_agree);
  const ValuesOfSide of_first = values_on(first, names);
  const ValuesOfSide of_second = values_on(second, names);
  std::set<std::string> apart;
  for (const auto& name : names) {
    const auto& a = of_first.at(name);
    const auto& b = of_second.at(name);
    if (!are_disjoint(a, b)) continue;
    if (a.size() > 1 || b.size() > 1) fail_swept(name, sides, a, b);
    apart.insert(name);
  }
  return apart;
}

void take_out(ComparedCase& one, const std::set<std::string>& apart, const std::string& both) {
  for (const auto& name : apart) {
    const auto at = one.configuration.find(name);
    if (at == one.configuration.end()) continue;
    one.own.insert(*at);
    one.configuration.erase(at);
  }
  one.configuration[kAlgorithm] = both;
}

std::map<std::string, std::vector<ComparedCase*>> by_dataset(ComparedFolder& folder) {
  std::map<std::string, std::vector<ComparedCase*>> all;
  for (auto& one : folder.cases) {
    const auto at = one.configuration.find(kDataset);
    all[at == one.configuration.end() ? "" : setting_text(at->second)].push_back(&one);
  }
  return all;
}

}  // namespace

ComparedSide parse_side(const std::string& text, const std::string& option) {
  ComparedSide side{text, {}, {}};
  std::istringstream words(text);
  words >> side.algorithm;
  for (std::string word; words >> word;) {
    const std::size_t at = word.find('=');
    if (at == 0 || at == word.npos || at + 1 == word.size()) {
      fail(ErrorKind::usage,
           "{}: found {} in {}, expected an algorithm and settings of it: \"als_cpu solver=cg\"",
           option, in_quotes(word), in_quotes(text));
    }
    side.settings.emplace_back(word.substr(0, at), word.substr(at + 1));
  }
  if (side.algorithm.empty()) {
    fail(ErrorKind::usage, "{}: found an empty name, expected an algorithm", option);
  }
  return side;
}

bool is_of(const Configuration& configuration, const ComparedSide& side) {
  const auto name = configuration.find(kAlgorithm);
  return name != configuration.end() && name->second == side.algorithm &&
         has_settings(configuration, side);
}

bool SideFilter::keeps(const Json& header) {
  const auto name = text_at(header, {kAlgorithm, "name"});
  if (!name) return true;
  known_.insert(*name);
  if (*name != side_->algorithm) return false;
  Configuration all = configuration_of(header);
  const bool fits = has_settings(all, *side_);
  any_fits_ = any_fits_ || fits;
  if (!fits) others_.insert(std::move(all));
  return fits;
}

void SideFilter::check(const std::string& folder) const {
  if (any_fits_) return;
  if (others_.empty()) fail_unknown_algorithm(folder, *side_, known_);
  fail_no_such_case(folder, *side_, others_);
}

void refuse_shared(const ComparedFolder& first, const ComparedFolder& second,
                   const ComparedSides& sides) {
  std::set<std::string> files;
  for (const auto& one : first.cases) files.insert(one.file);
  for (const auto& one : second.cases) {
    if (files.count(one.file) == 0) continue;
    fail(ErrorKind::usage,
         "--between: {} is on both sides, \"{}\" and \"{}\"; name what tells them apart: \"als_cpu "
         "solver=cg\" and \"als_cpu solver=lu\"",
         one.file, sides[0].text, sides[1].text);
  }
}

void set_beside(ComparedFolder& first, ComparedFolder& second, const ComparedSides& sides) {
  const std::string both = sides[0].text + " -> " + sides[1].text;
  auto of_first = by_dataset(first);
  auto of_second = by_dataset(second);
  for (auto& [dataset, cases] : of_first) {
    auto& others = of_second[dataset];
    std::set<std::string> apart;
    if (!others.empty()) {
      apart = names_apart({cases.begin(), cases.end()}, {others.begin(), others.end()}, sides);
    }
    for (const auto* side : {&cases, &others}) {
      for (auto* one : *side) take_out(*one, apart, both);
    }
    of_second.erase(dataset);
  }
  for (auto& [dataset, cases] : of_second) {
    for (auto* one : cases) take_out(*one, {}, both);
  }
}

std::string differing_text(const ComparedCase& first, const ComparedCase& second) {
  std::vector<std::string> words;
  for (const auto& [name, value] : first.own) {
    const auto other = second.own.find(name);
    if (other == second.own.end()) continue;
    words.push_back(
        fmt::format("{} {} against {}", name, setting_text(value), setting_text(other->second)));
  }
  return join(words, "; ");
}

}  // namespace mf
