#include "harness/run/data/shared_cases.hpp"

#include "harness/run/plan/preflight.hpp"
#include "harness/run/ranks/rank_world.hpp"

namespace mf {
namespace {

bool has_same(const char* section, const Case& a, const Case& b) {
  return a.resolved.at(section) == b.resolved.at(section);
}

template <class Ask>
bool any_of_same_split(const Case& own, std::span<const Case* const> later, Ask ask) {
  for (const Case* other : later) {
    if (!has_same("dataset", own, *other) || !has_same("split", own, *other)) return false;
    if (ask(*other)) return true;
  }
  return false;
}

}  // namespace

bool is_cut_again(const Case& own, std::span<const Case* const> later) {
  for (const Case* other : later) {
    if (!has_same("dataset", own, *other)) return false;
    if (!has_same("split", own, *other)) return true;
  }
  return false;
}

bool trains_on_one_device(const Case& item) { return needs_device(item) && ranks_of(item) == 1; }

bool uploads_ratings(const Case& item) { return needs_device(item) && !has_own_process(item); }

bool is_trained_again(const Case& own, std::span<const Case* const> later) {
  return trains_on_one_device(own) && any_of_same_split(own, later, trains_on_one_device);
}

bool is_handed_over_again(const Case& own, std::span<const Case* const> later) {
  return any_of_same_split(own, later, has_own_process);
}

}  // namespace mf
