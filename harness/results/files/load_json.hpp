// The load of the machine in a footer, written and read. docs/results.md has the keys.
#pragma once

#include <optional>

#include "base/json/json.hpp"
#include "harness/device/contention.hpp"

namespace mf {

// {"min", "median", "max"}, or null of none.
Json spread_json(const std::vector<double>& numbers);

// {"machine_cpus", ..., "prepare": {...}, "train": {...}}; null if neither ran.
Json host_load_json(const std::optional<HostLoad>& prepare, const std::optional<HostLoad>& train);

// {"other_processes", ..., "slowdowns"}; null for a case of the CPU.
Json device_load_json(const std::optional<DeviceLoad>& load);

// Sets contended, contended_by, host_contended and host_contended_by.
void set_contention(Json& footer, const Contention& contention);

// For a footer; both parts are empty if unknown.
Contention contention_in(const Json& footer);

// "training: other programs kept 1.0 of 2 CPUs busy; ...", reasons of the host's clocks named so;
// "" if it was not contended.
std::string contention_text(const Contention& contention);

}  // namespace mf
