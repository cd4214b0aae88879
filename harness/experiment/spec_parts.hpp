// Internal: what spec.cpp makes a spec of, in the order of spec_entries.cpp, spec_cases.cpp and
// spec_studies.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/experiment/spec_forms.hpp"

namespace mf {

struct DataEntry {
  std::string path;
  DatasetRequest request;
  SplitKeys split;
  Json request_json;  // the entry without its split and its label
};

// An entry with what it was read from: a trial is the same with other values.
struct GivenAlgorithm {
  AlgorithmEntry entry;
  Json json;                        // without "tune"
  std::set<std::string> inherited;  // keys of the spec in it
};

inline constexpr std::int64_t kMaxCases = 100'000;  // of a spec, and so of each of its lists

// These throw ErrorList with all that is wrong.
std::vector<DataEntry> read_data(const SpecKeys& keys);
std::vector<GivenAlgorithm> read_algorithms(const SpecKeys& keys);
AlgorithmEntry parse_algorithm(const Json& json, const std::string& path,
                               const std::set<std::string>& inherited);

const char* usual_validation(const Case& item);  // what its split might say
// Why the case has no such metric, or nothing.
std::optional<std::string> why_no_metric(const Case& item, Metric metric);
Case make_case(const AlgorithmEntry& algorithm, const DataEntry& data, const EvaluateSpec& evaluate,
               std::uint64_t seed);
// Throws Error(usage) if its metrics do not fit it.
Case make_checked(const AlgorithmEntry& algorithm, const DataEntry& data,
                  const EvaluateSpec& evaluate, std::uint64_t seed);

void mark_searched(Case& item, const TuneSpec& tune);  // says in the case what is not known of it
Study make_study(const Case& base, const GivenAlgorithm& given, const DataEntry& data,
                 const EvaluateSpec& evaluate);
void add_study(Spec& spec, Study study);
void label_studies(Spec& spec);
void warn_of_unequal(Spec& spec, const std::vector<GivenAlgorithm>& algorithms);
void warn_of_splits(Spec& spec, const SpecKeys& keys, const std::vector<DataEntry>& data);

}  // namespace mf
