#include "algorithms/peer/confinement.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace mf::peer {
namespace {

// Values of linux/landlock.h, which older systems lack. The call has this number on every
// architecture.
constexpr long kCreateRules = 444;
constexpr unsigned kAskVersion = 1;

}  // namespace

std::vector<std::string> confinements() {
  struct Since {
    long version;
    const char* name;
  };
  static const long version = ::syscall(kCreateRules, nullptr, std::size_t{0}, kAskVersion);
  std::vector<std::string> all;
  for (const auto& one : {Since{2, "writes"}, Since{3, "truncation"}, Since{6, "signals"}}) {
    if (version >= one.version) all.emplace_back(one.name);
  }
  return all;
}

}  // namespace mf::peer
