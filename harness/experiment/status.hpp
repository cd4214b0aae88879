// How a case ended. Every ending is a result.
#pragma once

#include "base/json/names.hpp"

namespace mf {

enum class Status { completed, diverged, oom, timeout, skipped, error, interrupted };

inline constexpr Names kStatuses{
    std::to_array<Named<Status>>({{"completed", Status::completed},
                                  {"diverged", Status::diverged},
                                  {"oom", Status::oom},
                                  {"timeout", Status::timeout},
                                  {"skipped", Status::skipped},
                                  {"error", Status::error},
                                  {"interrupted", Status::interrupted}})};

// Divergence and a skipped case are findings; these are failures, which --retry runs again.
constexpr bool is_failure(Status status) {
  return status == Status::error || status == Status::oom || status == Status::timeout;
}

// Whether it ran: not one that was interrupted, or skipped on a machine that could not run it.
constexpr bool has_run(Status status) {
  return status != Status::interrupted && status != Status::skipped;
}

}  // namespace mf
