#include "harness/results/cards.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "harness/experiment/metric_keys.hpp"
#include "harness/results/compare/compare_report.hpp"
#include "harness/results/text_table.hpp"

namespace mf {

extern const std::string kCardsJson;  // cards.json, embedded by the build

namespace {

struct AnswerNumber {
  const char* name;
  double AnswerTimes::*value;
};
constexpr auto kAnswerNumbers =
    std::to_array<AnswerNumber>({{"train_s", &AnswerTimes::train_s},
                                 {"answer_s", &AnswerTimes::answer_s},
                                 {"file_to_model_s", &AnswerTimes::file_to_model_s},
                                 {"energy_j", &AnswerTimes::energy_j}});

// A configuration, with its runs by the place of their card.
struct CardRow {
  Configuration configuration;
  Configuration data;
  std::map<std::size_t, Runs> on;
};
using CardRows = std::map<std::string, CardRow>;

// In the order in which they are met.
std::vector<ComparedFolder> read_cards(const std::vector<std::string>& folders,
                                       const std::optional<TargetSpec>& asked) {
  std::vector<ComparedFolder> cards;
  std::set<std::string> read;
  const auto take = [&](const StoredCase& stored, const StoredSpec& beside) {
    if (!read.insert(stored.path).second) return;
    const std::string name = card_of(stored.file.header);
    auto at = std::find_if(cards.begin(), cards.end(),
                           [&](const auto& card) { return card.summary.folder == name; });
    if (at == cards.end()) {
      at = cards.emplace(at);
      at->summary.folder = name;
    }
    take_case(stored, beside, asked, *at);
  };
  for (const auto& folder : folders) visit_listed_results(folder, take);
  std::erase_if(cards, [](const auto& card) { return card.cases.empty(); });
  if (cards.empty()) fail(ErrorKind::usage, "{}: no finished case", join(folders));
  return cards;
}

std::size_t find_card(const std::vector<ComparedFolder>& cards, const std::string& part) {
  std::vector<std::size_t> found;
  std::vector<std::string> names;
  for (const auto& card : cards) {
    const std::string& name = card.summary.folder;
    if (name.find(part) != name.npos) found.push_back(names.size());
    names.push_back(name);
  }
  if (part.empty() || found.size() == 1) return found[0];
  fail(ErrorKind::usage, "--over: found {}, expected a part of one card's name: {}",
       in_quotes(part), join(names));
}

Configuration data_of(const ComparedCase& one) {
  Configuration data;
  for (const auto& [name, value] : one.configuration) {
    const bool named = name == "dataset" && one.content.empty();
    if (named || name.starts_with("split")) data[name] = value;
  }
  data["dataset.content_hash"] = one.content;
  return data;
}

// The same repeat of another process or host is a further repeat.
void add_run(Runs& runs, const ComparedCase& one) {
  Repeat repeat = one.repeat;
  for (int again = 2; !runs.emplace(repeat, &one).second; ++again) {
    repeat.second = Json{one.repeat.second, again};
  }
}

CardRows group_cards(const std::vector<ComparedFolder>& cards) {
  CardRows rows;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    for (const auto& one : cards[i].cases) {
      const Configuration data = data_of(one);
      Configuration known = one.configuration;
      known.erase("dataset");
      known.insert(data.begin(), data.end());
      CardRow& row = rows[canonical(Json(known))];
      row.configuration = one.configuration;
      row.data = data;
      add_run(row.on[i], one);
    }
  }
  return rows;
}

// The baseline on the same data and card; of several configurations, the one with as many factors.
// Nothing if that leaves none or several, or if it has another target.
const Runs* find_baseline(const CardRows& rows, const CardRow& own, std::size_t card,
                          const ComparedSide& side) {
  std::vector<const CardRow*> found;
  for (const auto& [key, row] : rows) {
    const bool there = row.data == own.data && row.on.contains(card);
    if (there && is_of(row.configuration, side)) found.push_back(&row);
  }
  if (found.size() > 1) {
    const auto factors = [](const CardRow& row) {
      return Json(row.configuration)["params.factors"];
    };
    std::erase_if(found, [&](const CardRow* row) { return factors(*row) != factors(own); });
  }
  if (found.size() != 1) return nullptr;
  const Runs& runs = found[0]->on.at(card);
  return common_target({&runs, &own.on.at(card)}).differ ? nullptr : &runs;
}

Json ratio_json(const Compared& compared) {
  const auto& interval = compared.interval;
  return {{"ratio", number_or_null(compared.value)},
          {"low", interval ? number_or_null(interval->low) : Json()},
          {"high", interval ? number_or_null(interval->high) : Json()},
          {"pairs", compared.pairs}};
}

// Medians of the runs, and ratios of `others`, by name, over them.
Json cell_json(const Runs& runs, const std::map<const char*, const Runs*>& others,
               const std::optional<TargetSpec>& target) {
  Json json = {{"statuses", count_statuses(runs)}, {"origins", to_json(origins_of(runs))}};
  for (const auto& [repeat, one] : runs) json["files"].push_back(one->file);
  for (const AnswerNumber& measure : kAnswerNumbers) {
    const auto number = [&](const ComparedCase& one) {
      return std::optional((target ? one.at_target : one.at_end).*measure.value);
    };
    const Numbers own = numbers_of(runs, number);
    std::vector<double> values;
    for (const auto& [repeat, value] : own) values.push_back(value);
    const auto never = std::count(values.begin(), values.end(), kNever);
    json[measure.name] = {
        {"runs", own.size()},
        {"never", never},
        {"contended", count_contended(runs, own, &ComparedCase::answer_contended)},
        {"median", number_or_null(median(values))}};
    for (const auto& [name, other] : others) {
      if (other == nullptr) continue;
      json[measure.name][name] = ratio_json(compare_times(own, numbers_of(*other, number)));
    }
  }
  return json;
}

Json card_json(const ComparedFolder& card, const ComparedFolder& over) {
  static const Json known = parse_json(kCardsJson, "cards.json").at("cards");
  const FolderSummary& summary = card.summary;
  Json json = {{"card", summary.folder},
               {"cases", card.cases.size()},
               {"commits", summary.commits},
               {"origins", to_json(summary.origins)},
               {"left_out", summary.left_out}};
  for (const char* rate : {"memory_bytes_per_s", "tensor_flops_per_s"}) {
    const auto own = number_at(known, {summary.folder.c_str(), rate});
    const auto other = number_at(known, {over.summary.folder.c_str(), rate});
    json[rate] = {{"value", or_null(own)}, {"ratio", own && other ? Json(*own / *other) : Json()}};
  }
  return json;
}

// ---- as text ---------------------------------------------------------------------------------

// "memory 4.8 TB/s, 1.43 times"
std::string rate_text(const Json& card, const char* rate, const char* name, const char* unit) {
  const auto value = number_at(card, {rate, "value"}), ratio = number_at(card, {rate, "ratio"});
  if (!value) return fmt::format("{} unknown", name);
  return fmt::format("{} {:.3g} T{}", name, *value / 1e12, unit) +
         (ratio ? fmt::format(", {:.2f} times", *ratio) : "");
}

std::string median_text(const Json& measure) {
  if (const auto median = number_at(measure, {"median"})) return short_seconds(*median);
  return measure.at("never").get<int>() > 0 ? "never" : "-";
}

std::string ratio_text(const Json& measure, const char* over) {
  const auto ratio = number_at(measure, {over, "ratio"});
  const auto low = number_at(measure, {over, "low"}), high = number_at(measure, {over, "high"});
  if (!ratio) return "-";
  return fmt::format("{:.2f}", *ratio) +
         (low && high ? fmt::format(" [{:.2f}, {:.2f}]", *low, *high) : "");
}

Cells line_of(const Json& row, const Json& cell) {
  const Json &answer = cell.at("answer_s"), &target = row.at("target");
  const auto contended = answer.at("contended").get<int>();
  const auto energy = number_at(cell, {"energy_j", "median"});
  return {row.at("dataset").get<std::string>(),
          row.at("label").get<std::string>(),
          cell.at("card").get<std::string>(),
          fmt::format("{}{}", answer.at("runs").get<int>(),
                      contended > 0 ? fmt::format(" ({} contended)", contended) : ""),
          target.is_null() ? "the end"
                           : fmt::format("{} {:g}", target.at("metric").get<std::string>(),
                                         target.at("value").get<double>()),
          median_text(answer),
          median_text(cell.at("file_to_model_s")),
          energy ? fmt::format("{:.3g} J", *energy) : "-",
          ratio_text(cell.at("train_s"), "over_card"),
          ratio_text(answer, "over_card"),
          ratio_text(answer, "over_baseline")};
}

}  // namespace

Json compare_cards(const std::vector<std::string>& folders, const CardsOptions& options) {
  std::vector<ComparedFolder> cards = read_cards(folders, options.target);
  const std::size_t over = find_card(cards, options.over);
  std::vector<ComparedCase*> cases;
  for (auto& card : cards) {
    for (auto& one : card.cases) cases.push_back(&one);
  }
  place_unloaded(cases);
  drop_ignored(options.ignored, cases);
  const CaseLabels labels({cases.begin(), cases.end()});
  const CardRows rows = group_cards(cards);
  const auto& baseline = options.baseline;
  if (baseline && std::none_of(rows.begin(), rows.end(), [&](const auto& row) {
        return is_of(row.second.configuration, *baseline);
      })) {
    fail(ErrorKind::usage, "--baseline: no case is {}", in_quotes(baseline->text));
  }
  Json report = {{"over", cards[over].summary.folder},
                 {"baseline", baseline ? Json(baseline->text) : Json()},
                 {"level", kLevel},
                 {"cards", Json::array()},
                 {"rows", Json::array()}};
  for (const auto& card : cards) report["cards"].push_back(card_json(card, cards[over]));
  for (const auto& [key, row] : rows) {
    std::vector<const Runs*> sides;
    for (const auto& [card, runs] : row.on) sides.push_back(&runs);
    const auto target = common_target(sides).target;
    const ComparedCase& any = *sides[0]->begin()->second;
    Json json = {{"label", labels.without_data(row.configuration)},
                 {"dataset", dataset_of(row.configuration)},
                 {"content_hash", any.content},
                 {"on_device", any.on_device},
                 {"target", target ? to_json(*target) : Json()}};
    for (const auto& [card, runs] : row.on) {
      const bool other = card != over && row.on.contains(over);
      json["cards"].push_back(cell_json(
          runs,
          {{"over_card", other ? &row.on.at(over) : nullptr},
           {"over_baseline", baseline ? find_baseline(rows, row, card, *baseline) : nullptr}},
          target));
      json["cards"].back()["card"] = cards[card].summary.folder;
    }
    report["rows"].push_back(std::move(json));
  }
  std::stable_sort(report["rows"].begin(), report["rows"].end(), [](const Json& x, const Json& y) {
    return std::tie(x["dataset"], x["label"]) < std::tie(y["dataset"], y["label"]);
  });
  return report;
}

std::string cards_text(const Json& compared) {
  std::string text;
  for (const Json& card : compared.at("cards")) {
    const std::string name = card.at("card").get<std::string>();
    text += fmt::format("{}: {}, mfbench {}; {}; {}\n", name,
                        counted(card.at("cases").get<std::int64_t>(), "case"),
                        join(card.at("commits").get<std::vector<std::string>>()),
                        rate_text(card, "memory_bytes_per_s", "memory", "B/s"),
                        rate_text(card, "tensor_flops_per_s", "tensor cores", "FLOP/s"));
    for (const Json& line : card.at("left_out")) {
      text += "left out: " + line.get<std::string>() + "\n";
    }
  }
  text +=
      fmt::format("x: times as fast as on {}; intervals of {:g} %; rates by data sheets\n\n",
                  compared.at("over").get<std::string>(), 100 * compared.at("level").get<double>());
  std::vector<Column> columns = {
      {"data set", true}, {"algorithm", true}, {"card", true}, {"runs"},    {"to", true},
      {"answer"},         {"file to model"},   {"energy"},     {"x train"}, {"x answer"}};
  const Json& baseline = compared.at("baseline");
  if (!baseline.is_null()) columns.push_back({"x " + baseline.get<std::string>()});
  std::vector<Cells> lines;
  for (const Json& row : compared.at("rows")) {
    for (const Json& cell : row.at("cards")) {
      lines.push_back(line_of(row, cell));
      lines.back().resize(columns.size());
    }
  }
  return printable(text) + table_text(columns, lines, std::string::npos);
}

}  // namespace mf
