#include "harness/results/cards.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "harness/results/compare/compare_report.hpp"
#include "harness/results/meaning/text_table.hpp"

namespace mf {

extern const std::string kCardsJson;  // cards.json, embedded by the build

namespace {

// A folder a card, in the order in which they are met.
class CardsReading {
 public:
  explicit CardsReading(const std::optional<TargetSpec>& target) : target_(target) {}

  void take(const StoredCase& stored, const StoredSpec& beside) {
    if (!files_.insert(stored.path).second) return;
    const std::string name = card_of(stored.file.header);
    auto card = std::find_if(cards_.begin(), cards_.end(),
                             [&](const auto& one) { return one.summary.folder == name; });
    if (card == cards_.end()) {
      card = cards_.emplace(card);
      card->summary.folder = name;
    }
    const std::size_t before = card->cases.size();
    take_case(stored, beside, target_, *card);
    if (card->cases.size() > before) place(card->cases.back(), name);
  }

  std::vector<ComparedFolder> done() {
    std::erase_if(cards_, [](const auto& card) { return card.cases.empty(); });
    return std::move(cards_);
  }

 private:
  // The same repeat of another process or host is a further repeat.
  void place(ComparedCase& one, const std::string& card) {
    Json& name = one.configuration["dataset"];
    if (!one.content.empty()) name = names_.emplace(one.content, name).first->second;
    const Json key = {card, one.configuration, one.repeat.first, one.repeat.second};
    const int count = ++repeats_[canonical(key)];
    if (count > 1) one.repeat.second = Json{one.repeat.second, count};
  }

  std::optional<TargetSpec> target_;
  std::vector<ComparedFolder> cards_;
  std::set<std::string> files_;
  std::map<std::string, Json> names_;  // of data sets, by content
  std::map<std::string, int> repeats_;
};

std::size_t find_card(const std::vector<ComparedFolder>& cards, const std::string& part) {
  std::vector<std::size_t> found;
  std::vector<std::string> names;
  for (const auto& card : cards) {
    const std::string& name = card.summary.folder;
    if (name.find(part) != name.npos) found.push_back(names.size());
    names.push_back(name);
  }
  if (names.size() < 2) {
    fail(ErrorKind::usage, "--by card: found {}, expected cases of two cards", join(names));
  }
  if (part.empty() || found.size() == 1) return found[0];
  fail(ErrorKind::usage, "--over: found {}, expected a part of one card's name: {}",
       in_quotes(part), join(names));
}

void check_baseline(const std::vector<ComparedFolder>& cards, const ComparedSide& baseline) {
  for (const auto& card : cards) {
    for (const auto& one : card.cases) {
      if (is_of(one.configuration, baseline)) return;
    }
  }
  fail(ErrorKind::usage, "--baseline: no case is {}", in_quotes(baseline.text));
}

Json card_json(const FolderSummary& card, const std::string& over) {
  static const Json known = parse_json(kCardsJson, "cards.json").at("cards");
  Json json = {{"card", card.folder}, {"commits", card.commits}};
  for (const char* rate : {"memory_bytes_per_s", "tensor_flops_per_s"}) {
    const auto own = number_at(known, {card.folder.c_str(), rate});
    const auto other = number_at(known, {over.c_str(), rate});
    json[rate] = {{"value", or_null(own)}, {"ratio", own && other ? Json(*own / *other) : Json()}};
  }
  return json;
}

// "memory 4.8 TB/s, 1.43 times"
std::string rate_text(const Json& card, const char* rate, const char* name, const char* unit) {
  const auto value = number_at(card, {rate, "value"}), ratio = number_at(card, {rate, "ratio"});
  if (!value) return fmt::format("{} unknown", name);
  return fmt::format("{} {:.3g} T{}", name, *value / 1e12, unit) +
         (ratio ? fmt::format(", {:.2f} times", *ratio) : "");
}

std::string medians_text(const Json& compared, const std::function<std::string(double)>& text) {
  const auto side = [&](const char* name) {
    const auto median = number_at(compared, {name, "median"});
    return median ? text(*median) : compared.at(name).at("never").get<int>() > 0 ? "never" : "-";
  };
  return side("first") + " -> " + side("second");
}

// `inverse`: of times, second over first.
std::string times_text(const Json& compared, bool inverse) {
  const auto ratio = number_at(compared, {"ratio"});
  auto low = number_at(compared, {"low"}), high = number_at(compared, {"high"});
  if (!ratio) return "-";
  if (inverse) std::swap(low, high);
  const auto text = [&](double value) {
    return fmt::format("{:.2f}", inverse ? 1 / value : value);
  };
  return text(*ratio) + (low && high ? " [" + text(*low) + ", " + text(*high) + "]" : "");
}

}  // namespace

Json compare_cards(const std::vector<std::string>& folders, const std::string& over,
                   const CompareOptions& options) {
  CardsReading reading(options.target);
  for (const auto& folder : folders) {
    visit_listed_results(folder, [&](const StoredCase& stored, const StoredSpec& beside) {
      reading.take(stored, beside);
    });
  }
  const std::vector<ComparedFolder> cards = reading.done();
  const ComparedFolder& first = cards[find_card(cards, over)];
  if (options.baseline) check_baseline(cards, *options.baseline);
  const std::string& name = first.summary.folder;
  Json json = {{"over", name}, {"cards", {card_json(first.summary, name)}}};
  for (const auto& card : cards) {
    if (&card == &first) continue;
    json["cards"].push_back(card_json(card.summary, name));
    json["cards"].back()["compared"] = to_json(compare_folders(first, card, options));
  }
  return json;
}

std::string cards_text(const Json& compared) {
  std::string text;
  std::vector<Cells> lines;
  const auto joule = [](double value) { return fmt::format("{:.3g} J", value); };
  for (const Json& card : compared.at("cards")) {
    const std::string name = card.at("card").get<std::string>();
    text += fmt::format("{}: mfbench {}; {}; {}\n", name,
                        join(card.at("commits").get<std::vector<std::string>>()),
                        rate_text(card, "memory_bytes_per_s", "memory", "B/s"),
                        rate_text(card, "tensor_flops_per_s", "tensor cores", "FLOP/s"));
    for (const Json& row : value_at(card, {"compared", "rows"})) {
      const Json &answer = row.at("answer_time"), &target = row.at("target_time");
      const Json& train = target.is_null() ? row.at("epoch_time") : target;
      lines.push_back({row.at("label").get<std::string>(), name,
                       fmt::format("{} and {}", answer.at("first").at("runs").get<int>(),
                                   answer.at("second").at("runs").get<int>()),
                       times_text(train, true), times_text(answer, true),
                       medians_text(answer, short_seconds),
                       medians_text(row.at("file_to_model"), short_seconds),
                       medians_text(row.at("energy"), joule),
                       times_text(row.at("over_baseline").at("second"), false)});
    }
  }
  std::sort(lines.begin(), lines.end());
  text += fmt::format(
      "x: times as fast as on {}, with intervals of {:g} %; medians there and here; rates by data "
      "sheets\n\n",
      compared.at("over").get<std::string>(), 100 * kLevel);
  return printable(text) + table_text({{"configuration", true},
                                       {"card", true},
                                       {"runs", true},
                                       {"x train", true},
                                       {"x answer", true},
                                       {"answer", true},
                                       {"file to model", true},
                                       {"energy", true},
                                       {"x baseline", true}},
                                      lines, std::string::npos);
}

}  // namespace mf
