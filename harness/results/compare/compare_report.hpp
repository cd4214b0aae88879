// A comparison as a text, as JSON, and as an exit code.
#pragma once

#include <string>

#include "base/json/json_fwd.hpp"
#include "base/json/names.hpp"
#include "harness/results/compare/compare.hpp"

namespace mf {

// "faster at worse rmse": both times if they agree, else each, and the quality unless it is the
// same.
std::string headline(const Comparison& row);

// Three digits: format_seconds rounds to whole microseconds, which an epoch may take few of.
std::string short_seconds(double seconds);

std::string to_text(const ComparisonReport& report);
Json to_json(const ComparisonReport& report);

// Findings that a caller, such as CI, may take for a failure.
enum class Complaint { slower, worse, failed, missing, undecided };
inline constexpr Names kComplaints{
    std::to_array<Named<Complaint>>({{"slower", Complaint::slower},
                                     {"worse", Complaint::worse},
                                     {"failed", Complaint::failed},
                                     {"missing", Complaint::missing},
                                     {"undecided", Complaint::undecided}})};

// Whether the comparison gives reason for it: a time that is slower; a quality that is worse; a
// configuration of which more runs diverged or failed in the second than in the first; one that the
// second lacks; a time or quality that is ambiguous, contended, of different data or has too few
// runs.
bool has(const ComparisonReport& report, Complaint complaint);

}  // namespace mf
