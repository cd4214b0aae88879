#include "harness/experiment/metric.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace mf {
namespace {

// see(rank) for the hits among the first k ranks.
template <class See>
void for_hits(const Hits& hits, int k, See&& see) {
  for (int first = 0; first < k; first += 32) {
    std::uint32_t word = hits.words[first / 32];
    if (k - first < 32) word &= (std::uint32_t{1} << (k - first)) - 1;
    for (; word != 0; word &= word - 1) see(first + std::countr_zero(word));
  }
}

int count_to(const Hits& hits, int ranks) {
  int count = 0;
  for_hits(hits, ranks, [&](int) { ++count; });
  return count;
}

// The most hits that k ranks can hold.
double places(int k, std::int64_t held_out) {
  return static_cast<double>(std::min<std::int64_t>(k, held_out));
}

// The gain at a rank, from 0, and the sum of the first gains.
struct Gains {
  Gains() {
    for (int r = 0; r < kRanks; ++r) {
      at[r] = 1 / std::log2(static_cast<double>(r) + 2);
      first[r + 1] = first[r] + at[r];
    }
  }
  double at[kRanks] = {};
  double first[kRanks + 1] = {};
};

// A whole number from 1 to kRanks, written without a sign or leading zeros.
std::optional<int> parse_k(std::string_view digits) {
  int k = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), k);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || digits.front() == '0' || k < 1 || k > kRanks) return std::nullopt;
  return k;
}

}  // namespace

double recall_at(const Hits& hits, int k, std::int64_t held_out) {
  return static_cast<double>(count_to(hits, k)) / places(k, held_out);
}

double recall_of_all_at(const Hits& hits, int k, std::int64_t held_out) {
  return static_cast<double>(count_to(hits, k)) / static_cast<double>(held_out);
}

double ndcg_at(const Hits& hits, int k, std::int64_t held_out) {
  static const Gains gains;
  double gain = 0;
  for_hits(hits, k, [&](int rank) { gain += gains.at[rank]; });
  return gain / gains.first[std::min<std::int64_t>(k, held_out)];
}

double average_precision_at(const Hits& hits, int k, std::int64_t held_out) {
  double sum = 0;
  int found = 0;
  for_hits(hits, k, [&](int rank) { sum += static_cast<double>(++found) / (rank + 1); });
  return sum / places(k, held_out);
}

double reciprocal_rank_at(const Hits& hits, int k, std::int64_t) {
  for (int r = 0; r < k; ++r) {
    if (hits.at(r)) return 1 / static_cast<double>(r + 1);
  }
  return 0;
}

double hit_rate_at(const Hits& hits, int k, std::int64_t) { return count_to(hits, k) > 0 ? 1 : 0; }

double precision_at(const Hits& hits, int k, std::int64_t) {
  return static_cast<double>(count_to(hits, k)) / k;
}

std::string Metric::key() const {
  const std::string name(operator->()->name);
  return is_ranking() ? fmt::format("{}_{}", name, k_) : name;
}

std::string Metric::label() const { return *this == kTestRmse ? "rmse" : key(); }

std::string Metric::title() const {
  const std::string title(operator->()->title);
  return is_ranking() ? fmt::format("{}@{}", title, k_) : title;
}

// An objective may be any size.
std::string Metric::format(double value) const {
  return operator->()->measure == Measure::objective ? fmt::format("{:.6g}", value)
                                                     : fmt::format("{:.4f}", value);
}

std::string Metric::format_difference(double value) const {
  return operator->()->measure == Measure::objective ? fmt::format("{:+.4g}", value)
                                                     : fmt::format("{:+.4f}", value);
}

std::optional<Metric> find_metric(std::string_view word) {
  for (std::size_t row = 0; row < kMetricRows.size(); ++row) {
    const std::string_view name = kMetricRows[row].name;
    if (kMetricRows[row].measure != Measure::ranking) {
      if (word == name) return Metric(row, 0);
      continue;
    }
    if (!word.starts_with(name) || word.size() < name.size() + 2) continue;
    const char mark = word[name.size()];
    const auto k = parse_k(word.substr(name.size() + 1));
    if (k && (mark == '_' || mark == '@')) return Metric(row, *k);
  }
  return std::nullopt;
}

std::vector<Metric> usual_metrics() {
  std::vector<Metric> all;
  for (std::size_t row = 0; row < kMetricRows.size(); ++row) {
    if (kMetricRows[row].measure != Measure::ranking) all.emplace_back(row, 0);
    for (const int k : kMetricRows[row].usual) {
      if (k > 0) all.emplace_back(row, k);
    }
  }
  return all;
}

std::vector<Metric> usual_ranking() {
  std::vector<Metric> all = usual_metrics();
  std::erase_if(all, [](Metric one) { return !one.is_ranking(); });
  return all;
}

Metric on_validation(Metric metric) {
  for (std::size_t row = 0; row < kMetricRows.size(); ++row) {
    const MetricRow& other = kMetricRows[row];
    const bool same = other.measure == metric->measure && other.of_user == metric->of_user;
    if (same && other.part == MetricPart::validation) return {row, metric.k()};
  }
  return metric;
}

}  // namespace mf
