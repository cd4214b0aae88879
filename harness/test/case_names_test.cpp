// The names of cases and of their files: their words, their length, and that a finished case is
// found under any file name.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/json/json_values.hpp"
#include "harness/experiment/case_names.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/results/summary.hpp"
#include "harness/run/session.hpp"
#include "harness/test/testing.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;
using testing::TempFolder;
namespace fs = std::filesystem;

Spec spec_of(const std::string& algorithms, const std::string& data = R"("like:ml-100k:0.05")",
             const std::string& rest = "") {
  const std::string json = R"({"name": "t", "stop": {"epochs": 2}, "datasets": [)" + data +
                           R"(], "algorithms": [)" + algorithms + "]" + rest + "}";
  return parse_spec(parse_json(json, "t"), "t.json");
}

// The ids without the hash.
std::vector<std::string> names_of(const Spec& spec) {
  std::vector<std::string> names;
  for (const auto& item : spec.cases) {
    EXPECT_EQ(item.id.substr(item.id.size() - 11), "-" + item.hash.substr(0, 10));
    names.push_back(item.id.substr(0, item.id.size() - 11));
  }
  return names;
}

TEST(CaseNames, SayWhatDiffersAmongTheCasesOfAnAlgorithm) {
  const std::string end = "-ml-100k-look-alike-x0.05-s1";
  EXPECT_EQ(names_of(spec_of(R"({"name": "ruler", "offset": [1, 2.5], "factors": [8, 16]})")),
            (std::vector<std::string>{"ruler-f8-offset1" + end, "ruler-f16-offset1" + end,
                                      "ruler-f8-offset2.5" + end, "ruler-f16-offset2.5" + end}));
  // Settings that differ only from another algorithm's tell no two files apart.
  EXPECT_EQ(names_of(spec_of(R"({"name": "ruler", "offset": 1}, {"name": "sgd_serial"})")),
            (std::vector<std::string>{"ruler-f1" + end, "sgd_serial-f100" + end}));
  EXPECT_EQ(
      names_of(
          spec_of(
              R"({"name": "sgd_serial", "order": ["shuffled", "sequential"], "reg_p": [-1, 0.1]})"))
          .at(2),
      "sgd_serial-f100-order_sequential-reg_p_-1" + end);
}

TEST(CaseNames, AreShortAndOfPlainCharactersWhateverTheSpecSays) {
  const std::string label = R"({"like": "ml-100k", "scale": 0.05, "label": ")" +
                            std::string(100, 'x') + R"(", "split": {"holdout": [0.1, 0.125]}})";
  const Spec spec = spec_of(
      R"({"name": "ruler", "factors": [1, 1000], "offset": [1.23456789012345, 2], "decay": [0.5, 0.25],
          "sleep_ms": [0, 1.5], "learning_rate": [0.01, 0.012345678901234567]})",
      label + R"(, {"like": "ml-100k", "scale": 0.05, "seed": 2, "label": "größe /: ü"})",
      R"(, "seeds": [9223372036854775807])");
  std::set<std::string> ids;
  for (const auto& item : spec.cases) {
    EXPECT_LE(item.id.size() + std::string(".jsonl").size(), kLongestFileName);
    EXPECT_TRUE(std::all_of(item.id.begin(), item.id.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 ||
             std::string("-._+").find(static_cast<char>(c)) != std::string::npos;
    })) << item.id;
    ids.insert(item.id);
  }
  EXPECT_EQ(ids.size(), spec.cases.size());
  EXPECT_EQ(ids.size(), 96u);
}

struct Folder {
  TempFolder temporary;
  std::string path = temporary / "r";

  SessionSummary run(const Spec& spec, bool rerun = false) {
    RunOptions options;
    options.folder = path;
    options.rerun = rerun;
    const auto progress = make_progress(ProgressMode::quiet, stdout);
    return run_session(spec, options, *progress);
  }

  // As a version has left them that named only by algorithm, factors, data and seed.
  void rename_to_old(const Spec& spec) {
    for (const auto& item : spec.cases) {
      fs::rename(file(item.id), file("old-" + item.hash.substr(0, 10)));
    }
  }

  std::string file(const std::string& id) const { return path + "/" + id + ".jsonl"; }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.path().extension() == ".jsonl") names.push_back(entry.path().stem());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::vector<std::string> listed() const {
    std::vector<std::string> ids = read_json_file(path + "/spec.json")["cases"];
    std::sort(ids.begin(), ids.end());
    return ids;
  }
};

const char* const kOffsets = R"({"name": "ruler", "sleep_ms": 0, "offset": [1, 2]})";

TEST(CaseNames, AFinishedCaseIsFoundByItsHashUnderAnOldName) {
  Folder folder;
  const Spec spec = spec_of(kOffsets);
  EXPECT_EQ(folder.run(spec).run, 2);
  folder.rename_to_old(spec);
  const auto old = folder.files();
  const SessionSummary again = folder.run(spec);
  EXPECT_EQ(again.run, 0);
  EXPECT_EQ(again.finished_before, 2);
  EXPECT_EQ(folder.files(), old);
  EXPECT_EQ(folder.listed(), old) << "plots read the files that spec.json lists";
  EXPECT_TRUE(contains(summary_table(folder.path, spec), "ruler offset=2"));

  const SessionSummary rerun = folder.run(spec, true);
  EXPECT_EQ(rerun.run, 2);
  EXPECT_EQ(folder.files(), old);
  EXPECT_TRUE(fs::exists(folder.file(old[0]) + ".partial-1"));
  EXPECT_EQ(read_result_file(folder.file(old[0]))->header["case_id"], old[0]);
}

TEST(CaseNames, TheHashOfTheHeaderCountsAndNotTheNameOfTheFile) {
  Folder folder;
  const Spec spec = spec_of(kOffsets);
  folder.run(spec);
  const Case& first = spec.cases[0];
  const Case& second = spec.cases[1];
  // The second's result under a name with the first's digits; the first's is gone.
  fs::remove(folder.file(first.id));
  fs::rename(folder.file(second.id), folder.file("x-" + first.hash.substr(0, 10)));
  std::ofstream(folder.file("foreign")) << "no JSON\n";
  std::ofstream(folder.file("empty")) << "";
  const SessionSummary again = folder.run(spec);
  EXPECT_EQ(again.run, 1);
  EXPECT_EQ(again.finished_before, 1);
  EXPECT_EQ(read_result_file(folder.file(first.id))->header["case_hash"], first.hash);
  EXPECT_FALSE(fs::exists(folder.file(second.id)));
}

// A finished file whose header has another hash: edited, or copied over the case's own.
TEST(CaseNames, AFileWithAnotherHashIsNotTheResultOfTheCase) {
  for (const bool swapped : {false, true}) {
    Folder folder;
    const Spec spec = spec_of(kOffsets);
    folder.run(spec);
    const std::string path = folder.file(spec.cases[0].id);
    ResultFile file = *read_result_file(path);
    // Invented, the other case's (whose file is gone), or none.
    const std::string hash = swapped ? spec.cases[1].hash : std::string(64, 'a');
    file.header["case_hash"] = hash;
    std::ofstream out(path);
    out << file.header.dump() << "\n";
    for (const Json& point : file.trace) out << point.dump() << "\n";
    out << file.footer.dump() << "\n";
    out.close();
    if (swapped) fs::remove(folder.file(spec.cases[1].id));
    ::testing::internal::CaptureStderr();
    const SessionSummary again = folder.run(spec);
    const std::string warning = ::testing::internal::GetCapturedStderr();
    EXPECT_TRUE(contains(warning, path + ": is finished, but not this case")) << warning;
    EXPECT_TRUE(contains(warning, hash));
    EXPECT_EQ(again.run, swapped ? 2 : 1);
    EXPECT_EQ(read_result_file(path + ".partial-1")->header["case_hash"], hash) << "kept";
    for (const Case& item : spec.cases) {
      EXPECT_EQ(read_result_file(folder.file(item.id))->header["case_hash"], item.hash);
    }
    EXPECT_EQ(folder.run(spec).run, 0);
  }
}

TEST(CaseNames, AnEditedSpecFindsItsCasesUnderTheNamesTheyHad) {
  Folder folder;
  const auto ruler = [](const std::string& offset) {
    return spec_of(R"({"name": "ruler", "sleep_ms": 0, "offset": )" + offset + "}");
  };
  const Spec one = ruler("1");
  folder.run(one);
  const Spec two = ruler("[1, 2]");
  ASSERT_EQ(one.cases[0].hash, two.cases[0].hash);
  EXPECT_NE(one.cases[0].id, two.cases[0].id) << "the offset is swept now";
  EXPECT_EQ(folder.run(two).run, 1);
  std::vector<std::string> expected = {one.cases[0].id, two.cases[1].id};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(folder.files(), expected);
  EXPECT_EQ(folder.listed(), expected);
}

// The table of answers, with its heading; tables of rates follow.
std::string first_table(const std::string& text) { return text.substr(0, text.find("\n\n") + 1); }

TEST(Summary, CasesThatDifferInMoreThanTheSeedHaveRowsOfTheirOwn) {
  Folder folder;
  const Spec spec = spec_of(
      R"({"name": "ruler", "sleep_ms": 0, "stop": {"epochs": [1, 2]}, "init": {"scale": [0.1, 0.2]}})",
      R"({"like": "ml-100k", "scale": 0.05, "split": {"holdout": [0.1, 0.2]}})",
      R"(, "seeds": [1, 2])");
  folder.run(spec);
  const std::string table = first_table(summary_table(folder.path, spec));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 9) << table;
  EXPECT_HAS(table, "look-alike x0.05 holdout=0.1  ruler scale=0.1 epochs=1      2 ");
  EXPECT_HAS(table, "look-alike x0.05 holdout=0.2  ruler scale=0.2 epochs=2      2 ");
}

}  // namespace
}  // namespace mf
