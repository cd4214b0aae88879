#include "harness/results/files/load_json.hpp"

#include <algorithm>

#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "harness/results/meaning/stats.hpp"

namespace mf {
namespace {

Json stretch_json(const std::optional<HostLoad>& load) {
  if (!load) return nullptr;
  return {{"span_s", load->span_s},
          {"cpu_s", load->own.cpu_s},
          {"cpu_share", or_null(load->cpu_share())},
          {"voluntary_switches", load->own.voluntary},
          {"involuntary_switches", load->own.involuntary},
          {"wait_s", or_null(load->wait_s())},
          {"longest_wait_s", or_null(load->longest_wait_s())},
          {"others_cpus", or_null(load->others_cpus)},
          {"others_usable_cpus", or_null(load->others_usable_cpus)},
          {"steal_share", or_null(load->steal_share)},
          {"throttled_s", or_null(load->throttled_s)},
          {"throttled_periods", or_null(load->throttled_periods)},
          {"heat_slowdowns", or_null(load->heat_slowdowns)},
          {"load_begin", or_null(load->load_begin)},
          {"load_end", or_null(load->load_end)},
          {"cpu_clock_hz", spread_json(load->clocks_hz)}};
}

Reasons reasons_in(const Json& footer, const char* answer, const char* words) {
  const Json& contended = value_at(footer, {answer});
  if (!contended.is_boolean()) return std::nullopt;
  std::vector<std::string> found;
  if (!contended.get<bool>()) return found;
  for (const Json& one : value_at(footer, {words})) {
    if (one.is_string()) found.push_back(one.get<std::string>());
  }
  if (found.empty()) found.emplace_back("no reason given");
  return found;
}

Json words_json(const Reasons& reasons) { return reasons ? Json(*reasons) : Json(); }

}  // namespace

Json spread_json(const std::vector<double>& numbers) {
  if (numbers.empty()) return nullptr;
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  return {{"min", *low}, {"median", *median(numbers)}, {"max", *high}};
}

Json host_load_json(const std::optional<HostLoad>& prepare, const std::optional<HostLoad>& train) {
  if (!prepare && !train) return nullptr;
  const HostLoad& any = train ? *train : *prepare;
  return {{"machine_cpus", any.machine_cpus > 0 ? Json(any.machine_cpus) : Json()},
          {"usable_cpus", any.usable_cpus},
          {"threads", any.threads},
          {"prepare", stretch_json(prepare)},
          {"train", stretch_json(train)}};
}

Json device_load_json(const std::optional<DeviceLoad>& load) {
  if (!load) return nullptr;
  Json json = {{"other_processes", nullptr},
               {"other_memory_bytes", nullptr},
               {"other_sm_share", nullptr},
               {"slowdown_readings", load->readings},
               {"slowdowns", Json::object()}};
  if (load->others) {
    std::optional<double> memory = 0, share = 0;
    for (const auto& one : *load->others) {
      memory =
          memory && one.memory_bytes ? std::optional(*memory + *one.memory_bytes) : std::nullopt;
      share = share && one.sm_share ? std::optional(*share + *one.sm_share) : std::nullopt;
    }
    json["other_processes"] = load->others->size();
    json["other_memory_bytes"] = or_null(memory);
    json["other_sm_share"] = or_null(share);
  }
  for (std::size_t k = 0; k < kSlowdowns.size(); ++k) {
    if (load->slowed[k] == 0) continue;
    json["slowdowns"][std::string(kSlowdowns[k].name)] =
        static_cast<double>(load->slowed[k]) / static_cast<double>(load->readings);
  }
  return json;
}

void set_contention(Json& footer, const Contention& contention) {
  footer["contended"] = or_null(Contention::is(contention.times));
  footer["contended_by"] = words_json(contention.times);
  footer["host_contended"] = or_null(Contention::is(contention.host));
  footer["host_contended_by"] = words_json(contention.host);
}

Contention contention_in(const Json& footer) {
  return {reasons_in(footer, "contended", "contended_by"),
          reasons_in(footer, "host_contended", "host_contended_by")};
}

std::string contention_text(const Contention& contention) {
  std::vector<std::string> words;
  if (contention.times) words = *contention.times;
  if (contention.host) {
    for (const auto& one : *contention.host) words.push_back("host clocks, " + one);
  }
  return join(words, "; ");
}

}  // namespace mf
