// Results as tables and as lines of JSON, against files written by hand.
#include "harness/results/summarize.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/test/testing.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::TempFolder;
namespace fs = std::filesystem;

Json header(const std::string& id) {
  return parse_json(R"({"type": "header", "schema_version": 1, "case_id": ")" + id +
                        R"(", "case_hash": "0)" + id +
                        R"(", "spec_name": "s", "seed": 7, "baseline": null,
    "algorithm": {"name": "als", "family": "als", "hardware": "cpu",
                  "params": {"factors": 8, "reg": 0.1, "order": "none"}},
    "dataset": {"name": "toy, \"big\"", "content_hash": "00ff", "n_users": 3,
                "split": {"holdout": 0.2, "seed": 7}, "scale": null},
    "schedule": {"kind": "constant", "learning_rate": 0.30000000000000004},
    "stop": {"epochs": 2, "plateau": {"patience": 3}},
    "work_per_epoch": {"updates": 12.0}, "facts": {}, "profile": null,
    "environment": {"git_sha": "abc", "git_dirty": false, "gpu": null, "seed": "x"}})",
                    "t");
}

Json point(int epoch, double train, const Json& rmse) {
  return {{"type", "trace"},
          {"epoch", epoch},
          {"updates", 9007199254740993 + epoch},
          {"train_s", train},
          {"test_rmse", rmse}};
}

Json footer() {
  return parse_json(
      R"({"type": "footer", "status": "completed", "stop_reason": "a\nb", "updates": 4,
    "clocks": {"prepare_s": 0.5, "transfer_s": 0.25, "train_s": 2}, "best_test_rmse": 1e-7,
    "phases": {"a b": {"count": 1}}, "user_groups": [{"n": 1}], "metrics": {"map_10": {"best": 0.5}}})",
      "t");
}

struct Results {
  TempFolder folder;

  std::string write(const std::string& name, const std::vector<Json>& lines,
                    const std::string& rest = "") {
    const std::string path = folder / name;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream out(path);
    for (const Json& line : lines) out << line.dump() << "\n";
    out << rest;
    return path;
  }

  void write_case(const std::string& name, const std::string& id) {
    write(name, {header(id), point(0, 0, 2.5), point(1, 1.5, nullptr), footer()});
  }

  Summarized run(bool unlisted = false) {
    return summarize_as_csv({{folder / "r"}, unlisted}, folder / "c.csv", folder / "t.csv");
  }

  std::vector<Json> lines(bool with_lines = false) {
    std::stringstream text;
    summarize_as_json({{folder / "r"}, false, with_lines}, text);
    std::vector<Json> found;
    for (std::string line; std::getline(text, line);) found.push_back(parse_json(line, "line"));
    return found;
  }
};

TEST(Csv, CellsGiveTheirValuesBack) {
  EXPECT_EQ(csv_cell(nullptr), "");
  EXPECT_EQ(csv_cell(true), "true");
  EXPECT_EQ(csv_cell(9007199254740993), "9007199254740993");
  for (const double value : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 0.30000000000000004}) {
    EXPECT_EQ(std::strtod(csv_cell(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(csv_cell("plain text"), "plain text");
  EXPECT_EQ(csv_cell("=1+2"), "'=1+2");
  EXPECT_EQ(csv_cell("@a"), "'@a");
  EXPECT_EQ(csv_cell("+cmd|' /C calc'!A0"), "'+cmd|' /C calc'!A0");
  EXPECT_EQ(csv_cell("-2.5e-3"), "-2.5e-3") << "a number";
  EXPECT_EQ(csv_cell("-"), "'-");
  EXPECT_EQ(csv_cell("a\x1b[31m"), "a\\x1b[31m");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"a\"\n"), "\"say \"\"a\"\"\n\"");
  EXPECT_EQ(csv_cell(""), "\"\"") << "which is not the same as a value that is missing";
  EXPECT_EQ(csv_cell(Json::array({1, "b"})), "\"[1,\"\"b\"\"]\"");
}

struct Summarize : ::testing::Test {
  Results results;
};

TEST_F(Summarize, ACaseWithoutItsFooterIsUnfinished) {
  results.write("r/a.jsonl", {header("a"), point(0, 0, 2.5)}, "{\"type\": \"trace\", \"epo");
  const Summarized done = results.run();
  EXPECT_EQ(done.left_out, 0);
  const Json row = results.lines().at(0);
  EXPECT_EQ(row["status"], "unfinished");
  EXPECT_EQ(row["trace"]["answer_s"], Json::array({nullptr}));
}

TEST_F(Summarize, DamagedAndForeignFilesAreNamedAndLeftOut) {
  results.write_case("r/good.jsonl", "good");
  const auto leave_out = [&](const std::vector<Json>& lines, const std::string& said,
                             const std::string& rest = "") {
    const std::string path = results.write("r/bad.jsonl", lines, rest);
    ::testing::internal::CaptureStderr();
    const Summarized done = results.run();
    const std::string errors = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(done.left_out, 1) << said;
    EXPECT_TRUE(contains(errors, path + ": line ") && contains(errors, said)) << errors;
    EXPECT_EQ(done.cases, 1u) << said;
    EXPECT_EQ(done.points, 2u) << said;
  };
  leave_out({{{"a", 1}}}, "line 1: found {\"a\":1}, expected an object with the text \"type\"");
  leave_out({{{"type", "remark"}}}, "line 1: found {\"type\":\"remark\"}, expected the header");
  leave_out({}, "line 1: found PK", "PK\x03\x04\n");
  leave_out({point(0, 0, 1)}, "expected the header");
  leave_out({header("a"), footer(), point(0, 0, 1)}, "line 3: ");
  leave_out({header("a"), footer(), point(0, 0, 1)}, "expected nothing after the footer");
  leave_out({header("a"), header("a")}, "line 2: ");
  leave_out({header("a")}, "line 2: found {\"type\": \"tr", "{\"type\": \"tr\n");
  Json newer = header("a");
  newer["schema_version"] = 2;
  leave_out({newer}, "line 1: found schema_version 2, and this version knows 1 only");
  for (const char* key : {"case_id", "case_hash", "algorithm", "dataset", "seed"}) {
    Json lacking = header("a");
    lacking.erase(key);
    leave_out({lacking}, "line 1: a header without \"" + std::string(key));
  }
}

TEST_F(Summarize, SpecJsonSaysWhichCasesCount) {
  results.write_case("r/in/a.jsonl", "a");
  results.write_case("r/in/gone.jsonl", "gone");
  results.write("r/in/spec.json", {{{"cases", {"a", "later", "begun"}}}});
  results.write("r/in/begun.jsonl", {}, "{\"type\"");
  results.write("r/in/a.jsonl.partial-1", {}, "garbage\n");
  results.write_case("r/other/b.jsonl", "b");
  Summarized done = results.run();
  EXPECT_EQ(done.cases, 2u);
  EXPECT_EQ(done.unlisted, 1);
  EXPECT_EQ(done.not_begun, 2);
  EXPECT_EQ(done.left_out, 0);
  done = results.run(true);
  EXPECT_EQ(done.cases, 3u);
  EXPECT_EQ(done.unlisted, 0);
  results.write("r/in/spec.json", {}, "{\"cases\": [");
  done = results.run();
  EXPECT_EQ(done.left_out, 1) << "the spec.json";
  EXPECT_EQ(done.cases, 3u);
}

TEST_F(Summarize, TheSameFileCountsOnce) {
  results.write_case("r/a.jsonl", "a");
  const std::string folder = results.folder / "r";
  const auto done = summarize_as_csv({{folder, folder + "/../r"}}, results.folder / "c.csv",
                                     results.folder / "t.csv");
  EXPECT_EQ(done.cases, 1u);
}

// The derived values, by hand: prepare 0.5, transfer 0.25 and 4 that another case had prepared; the
// target 2 is met at epoch 3, looked at after epoch 1.
TEST_F(Summarize, WhatFollowsFromACaseStandsInItsRow) {
  Json head = header("a");
  head["target"] = {{"metric", "test_rmse"}, {"value", 2}};
  Json end = footer();
  end["shared"] = {{"prepare", {{"views_s", 4}}}};
  end["sm_clock_seen_hz"] = {{"min", 97}, {"max", 100}};
  results.write("r/a.jsonl", {head, point(0, 0, 2.5), point(1, 1.5, 2.1), point(3, 3.5, 2), end});
  const Json row = results.lines().at(0);
  EXPECT_EQ(row["to_training_s"], 4.75);
  EXPECT_EQ(row["train_to_target_s"], 3.5);
  EXPECT_EQ(row["answer_to_target_s"], 8.25);
  EXPECT_EQ(row["epoch_at_target"], 3);
  EXPECT_EQ(row["epoch_before_target"], 1);
  EXPECT_EQ(row["clock_moved"], true);
  EXPECT_EQ(row["energy_to_target_j"], nullptr) << "which was not measured";
  EXPECT_EQ(row["trace"]["answer_s"], Json({4.75, 6.25, 8.25}));
  EXPECT_EQ(row["trace"]["iterations"][1], 9007199254740994.0 / 3);
  EXPECT_EQ(row["trace"]["updates_per_s"][0], nullptr) << "no time was taken";
  EXPECT_EQ(row["params"]["order"], "none") << "objects stay objects";
}

TEST_F(Summarize, TheSpecOfTheFolderSaysWhatACaseIsMeasuredAgainst) {
  results.write_case("r/a.jsonl", "a");
  const auto spec = [&](const Json& target) {
    results.write("r/spec.json", {{{"cases", {"later", "a"}},
                                   {"baseline", "als"},
                                   {"target_rmse", 2.5},
                                   {"spec", {{"target", target}}}}});
    return results.lines();
  };
  const auto lines = spec(nullptr);
  ASSERT_EQ(lines.size(), 2u) << "in the order of the spec";
  EXPECT_EQ(lines[0]["case_id"], "later");
  EXPECT_EQ(lines[0]["status"], "missing");
  EXPECT_EQ(lines[0]["trace"]["epoch"], Json::array());
  EXPECT_EQ(lines[1]["baseline"], "als");
  EXPECT_EQ(lines[1]["target"], Json({{"metric", "test_rmse"}, {"value", 2.5}}));
  EXPECT_EQ(lines[1]["epoch_at_target"], 0);
  EXPECT_EQ(spec({{"metric", "map_10"}, {"value", 1}})[1]["target"]["metric"], "map_10");
}

TEST_F(Summarize, LinesOfJsonNameWhatIsLeftOutAndHaveTheFileWhereAskedFor) {
  results.write_case("r/a.jsonl", "a");
  results.write_case("r/copy.jsonl", "a");
  Json profiled = header("b");
  profiled["profile"] = {{"warmup", 1}, {"epochs", 3}};
  profiled["case_hash"] = "0b";
  results.write("r/profiled.jsonl", {profiled});
  Json wrong = header("c");
  wrong["dataset"]["n_users"] = "three";
  results.write("r/wrong.jsonl", {wrong});
  const auto lines = results.lines(true);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0]["lines"], header("a").dump() + "\n" + point(0, 0, 2.5).dump() + "\n" +
                                   point(1, 1.5, nullptr).dump() + "\n" + footer().dump() + "\n");
  const auto why = [&](std::size_t i) { return lines[i]["why"].get<std::string>(); };
  EXPECT_HAS(why(1), "are the same case; keep one of them");
  EXPECT_HAS(why(2), "a profiled run, whose times are no results");
  EXPECT_HAS(why(3), "dataset.n_users: found the string \"three\", expected a whole");
  EXPECT_EQ(lines[1]["folder"], results.folder / "r");
}

}  // namespace
}  // namespace mf
