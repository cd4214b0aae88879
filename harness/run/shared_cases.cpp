#include "harness/run/shared_cases.hpp"

#include "harness/run/preflight.hpp"

namespace mf {
namespace {

bool has_same(const char* section, const Case& a, const Case& b) {
  return a.resolved.at(section) == b.resolved.at(section);
}

}  // namespace

bool is_cut_again(const Case& own, std::span<const Case* const> later) {
  for (const Case* other : later) {
    if (!has_same("dataset", own, *other)) return false;
    if (!has_same("split", own, *other)) return true;
  }
  return false;
}

bool is_trained_again(const Case& own, std::span<const Case* const> later) {
  if (!needs_device(own)) return false;
  for (const Case* other : later) {
    if (!has_same("dataset", own, *other) || !has_same("split", own, *other)) return false;
    if (needs_device(*other)) return true;
  }
  return false;
}

}  // namespace mf
