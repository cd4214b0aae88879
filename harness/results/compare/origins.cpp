#include "harness/results/compare/origins.hpp"

#include <fmt/core.h>

#include "base/json/json_values.hpp"

namespace mf {
namespace {

std::string counted(std::size_t count, const char* one, const char* several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

}  // namespace

void Origins::add(const Json& environment) {
  ++runs;
  const auto process = text_at(environment, {"process"});
  const auto host = text_at(environment, {"host"});
  if (!process || !host) {
    ++unknown;
    return;
  }
  processes.insert(*process);
  hosts.insert(*host);
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
