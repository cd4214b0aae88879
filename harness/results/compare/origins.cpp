#include "harness/results/compare/origins.hpp"

#include <fmt/core.h>

#include "base/json/json_values.hpp"

namespace mf {
namespace {

std::string counted(std::size_t count, const char* one, const char* several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

}  // namespace

RunOrigin origin_of(const Json& environment) {
  return {text_at(environment, {"process"}), text_at(environment, {"host"})};
}

void Origins::add(const RunOrigin& one) {
  ++runs;
  if (!one.process || !one.host) {
    ++unknown;
    return;
  }
  processes.insert(*one.process);
  hosts.insert(*one.host);
}

bool differ_in_hosts(const Origins& first, const Origins& second) {
  return first.known() && second.known() && first.hosts != second.hosts;
}

std::string origins_text(const Origins& origins) {
  if (!origins.known()) return "";
  return counted(origins.processes.size(), "process", "processes") + " on " +
         counted(origins.hosts.size(), "host", "hosts") +
         (origins.unknown == 0 ? ""
                               : fmt::format(", and {} runs of unknown ones", origins.unknown));
}

Json to_json(const Origins& origins) {
  return {{"processes", origins.known() ? Json(origins.processes.size()) : Json()},
          {"hosts", origins.known() ? Json(origins.hosts) : Json()},
          {"runs_unknown", origins.unknown}};
}

}  // namespace mf
