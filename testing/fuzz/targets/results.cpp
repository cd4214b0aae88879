// Result files, as run, compare, summarize and the table at the end read them. An input is two of
// them.
#include <filesystem>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/compare/compare.hpp"
#include "harness/results/compare/compare_report.hpp"
#include "harness/results/compare/headline.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/results/files/stored_results.hpp"
#include "harness/results/study/study_files.hpp"
#include "harness/results/study/study_report.hpp"
#include "harness/results/summarize.hpp"
#include "harness/results/summary.hpp"
#include "testing/fuzz/mutate.hpp"
#include "testing/fuzz/scratch.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {
namespace {

// The corpus has results of it.
const Spec& fixed_spec() {
  static const Spec spec = parse_spec(
      parse_json(R"({"name": "fuzz", "datasets": [{"path": "ratings.txt", "format": "triples"}],
                     "stop": {"epochs": 2}, "target_rmse": 0.9,
                     "algorithms": [{"name": "sgd_serial", "factors": 2}]})",
                 "spec.json"),
      "spec.json");
  return spec;
}

void read_one(const std::string& path) {
  const auto file = read_result_file(path);
  expect(file.has_value(), "a file that is there is read");
  warn_of_damage(*file, "it is left out");
  if (file->finished()) expect(file->status().has_value(), "what is finished has a status");
  if (!file->header.is_object()) return;
  answer_at_end(*file);
  answer_at(*file, TargetSpec{kTestRmse, 1});
  epoch_times_of(*file);
  clock_moved(file->footer);
  headline_of(*file, judged_by(*file));
  best_seen(*file, kTestRmse);
  rules_on_test(file->header);
}

// As they are unpacked: chance makes no xz.
void packed(std::string_view input) {
  const auto take = [](const StoredCase& one, const StoredSpec&) {
    expect(one.path.starts_with("packed/"), "a case is named below its folder");
    if (one.file.finished()) expect(one.file.status().has_value(), "what is finished has a status");
  };
  visit_packed_lines("packed.jsonl.xz", input, take).listed();
}

// A study, and the outcomes of its trials.
void study(std::string_view input) {
  const auto parts = parts_of(input, 2);
  write_scratch("studied/tune/one/study.json", parts[0]);
  write_scratch("studied/tune/one/trial.jsonl", parts[1]);
  for (const auto& found : read_studies(scratch() / "studied")) {
    to_text(found.plan, found.state);
    to_json(found.plan, found.state).dump();
    choice_warning(found.plan, found.state);
  }
}

void results(std::string_view input) {
  const auto parts = parts_of(input, 2);
  const Spec& spec = fixed_spec();
  const std::string name = spec.cases.front().id + ".jsonl";
  const std::string first = write_scratch("first/" + name, parts[0]);
  const std::string second = write_scratch("second/other.jsonl", parts[1]);
  read_one(first);
  read_one(second);
  const std::string one = scratch() / "first";
  const std::string other = scratch() / "second";
  summary_table(one, spec);
  summary_table(other, named_as_in(other, spec));
  accepts([&] {
    summarize_as_csv({{one, other}, true}, scratch() / "cases.csv", scratch() / "trace.csv");
  });
  std::ostringstream lines;
  summarize_as_json({{one, other}, false, true}, lines);
  CompareOptions options;
  options.target = TargetSpec{kTestRmse, 1};
  accepts([&] { to_text(compare_results(one, one, options)); });
  const ComparisonReport report = compare_results(one, other, {});
  to_text(report);
  to_json(report).dump();
  for (const auto& complaint : kComplaints.all()) has(report, kComplaints.parse(complaint, ""));
  if (report.rows.empty()) fail(ErrorKind::usage, "no case in common");
}

const Registrar target({"results", results, 2});
const Registrar packed_target({"packed", packed});
const Registrar study_target({"study", study, 2});

}  // namespace
}  // namespace mf::fuzz
