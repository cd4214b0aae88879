// How many processes and hosts stand behind runs: effects common to the runs of one process or host
// are in all of their times, and no test on them sees these.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "base/json/json.hpp"

namespace mf {

// The process and host of one run; empty if its file does not say.
struct RunOrigin {
  std::optional<std::string> process, host;
};
RunOrigin origin_of(const Json& environment);

struct Origins {
  int runs = 0;
  int unknown = 0;  // of these, files that do not say
  std::set<std::string> processes, hosts;

  void add(const RunOrigin& one);
  bool known() const { return runs > unknown; }
};

// Whether the runs of two sides are known to be of different hosts. A ratio of their times then
// includes the difference of the hosts.
bool differ_in_hosts(const Origins& first, const Origins& second);

// "5 processes on 2 hosts"; empty if no file says it.
std::string origins_text(const Origins& origins);

Json to_json(const Origins& origins);

}  // namespace mf
