// Specs, as far as they go without running; and the catalog.
#include <set>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/json/json.hpp"
#include "datasets/fetch/catalog.hpp"
#include "harness/experiment/case_names.hpp"
#include "harness/experiment/spec.hpp"
#include "harness/run/plan/plan.hpp"
#include "testing/fuzz/scratch.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {
namespace {

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0\n\x1b", 5)) == std::string::npos;
}

void check_cases(const Spec& spec) {
  std::set<std::string> ids;
  for (const auto& item : spec.cases) {
    expect(is_plain_name(item.id), "the name of a case is that of a file");
    expect(item.id.size() + std::string_view(".jsonl").size() <= kLongestFileName,
           "the name of a case is short enough");
    expect(ids.insert(item.id).second, "names of cases differ");
    expect(item.hash == sha256(canonical(item.resolved)), "the hash is of the resolved case");
  }
}

void spec(std::string_view input) {
  scratch();  // nothing of the user's is seen
  const Json json = parse_json(input, "spec.json");
  expect(canonical(parse_json(json.dump(), "again")) == canonical(json),
         "JSON that is written is what was read");
  const Spec first = parse_spec(json, "spec.json");
  const Spec second = parse_spec(json, "spec.json");
  expect(is_plain_name(first.name), "the name of a spec is that of a folder");
  expect(first.cases.size() == second.cases.size(), "a spec has the same cases each time");
  for (std::size_t i = 0; i < first.cases.size(); ++i) {
    expect(first.cases[i].id == second.cases[i].id, "a case has the same name each time");
  }
  check_cases(first);
  if (first.cases.size() > 8) return;
  accepts([&] {
    const Json plan = make_plan(first, {.measure = false});
    format_plan(plan, first);
    plan.dump();
  });
}

void catalog_text(std::string_view input) {
  for (const auto& entry : parse_catalog(std::string(input), "catalog.json")) {
    expect(!entry.whole.empty() && !entry.whole.front().empty(), "an entry has files of the whole");
    for (const auto& file : entry.files) is_fetched(entry, file);
    for (const auto& name : entry.whole.front()) find_data_file(entry, name);
  }
}

const Registrar spec_target({"spec", spec});
const Registrar catalog_target({"catalog", catalog_text});

}  // namespace
}  // namespace mf::fuzz
