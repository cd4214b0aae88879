#include "harness/results/files/result_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/json/json_values.hpp"
#include "harness/test/testing.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;
using testing::TempFolder;

Json point(int epoch) {
  return {{"type", "trace"}, {"epoch", epoch}, {"train_s", 0.5 * epoch}, {"test_rmse", 0.9}};
}

Json long_point(int epoch) {
  Json json = point(epoch);
  json["text"] = std::string(20, 'x');
  return json;
}

Json footer() {
  return {
      {"type", "footer"}, {"status", "completed"}, {"updates", 1}, {"clocks", {{"train_s", 1.5}}}};
}

struct ResultFile : ::testing::Test {
  const TempFolder folder;
  const std::string path = folder / "a.jsonl";
};

TEST_F(ResultFile, IsReadBackAsWritten) {
  {
    ResultWriter writer(path);
    writer.append({{"type", "header"}, {"case_id", "a"}});
    writer.append(point(0));
    writer.append(point(1));
    EXPECT_FALSE(read_result_file(path)->finished()) << "lines are flushed as they come";
    EXPECT_EQ(read_result_file(path)->trace.size(), 2u);
    writer.append(footer());
  }
  const auto file = read_result_file(path);
  ASSERT_TRUE(file && file->finished());
  EXPECT_EQ(file->header["case_id"], "a");
}

Json of_packing_while_loading() {
  Json json = footer();
  json["clocks"] = {{"load_s", 2.5}, {"prepare_s", 0.25}, {"train_s", 1.5}, {"wall_s", 5}};
  json["load_parts"] = {{"read_s", 1}, {"pack_s", 0.5}};
  json["shared"] = {{"load", {{"split_s", 3}, {"packed_s", 0.75}}}};
  return json;
}

TEST_F(ResultFile, AnOlderOneHasPackingOnTheClockPrepareWhenItIsReadBack) {
  const auto read = [&](const Json& line) {
    std::ofstream(path) << "{\"type\": \"header\"}\n" << line.dump() << "\n";
    return read_result_file(path)->footer;
  };
  const Json today = read(of_packing_while_loading());
  EXPECT_EQ(today["clocks"],
            Json({{"load_s", 2.0}, {"prepare_s", 0.75}, {"train_s", 1.5}, {"wall_s", 5}}));
  EXPECT_EQ(today["load_parts"], Json({{"read_s", 1}}));
  EXPECT_EQ(today["phases"], Json({{"pack", {{"seconds_s", 0.5}, {"count", 1}}}}));
  EXPECT_EQ(today["shared"], Json({{"load", {{"split_s", 3}}}, {"prepare", {{"packed_s", 0.75}}}}));
  EXPECT_EQ(read(today), today) << "once is enough";
  EXPECT_EQ(read(footer()), footer());
  Json odd = of_packing_while_loading();
  odd["phases"] = odd["shared"]["prepare"] = 1;
  EXPECT_EQ(read(odd)["clocks"], today["clocks"]) << "other keys of any type do not matter";
}

TEST_F(ResultFile, AnOlderPeerIsNotChargedForTheFilesThatWereWrittenForIt) {
  Json old = footer();
  old["clocks"] = {{"prepare_s", 2.0}, {"rest_s", 0.5}, {"train_s", 1.5}};
  old["phases"] = {{"hand_over", {{"seconds_s", 1.5}, {"count", 1}}},
                   {"convert", {{"seconds_s", 0.25}, {"count", 1}}}};
  old["shared"] = {{"prepare", {{"training_files_s", 1.25}}}};
  const auto read = [&](const Json& line) {
    std::ofstream(path) << "{\"type\": \"header\"}\n" << line.dump() << "\n";
    return read_result_file(path)->footer;
  };
  const Json today = read(old);
  EXPECT_EQ(today["clocks"], Json({{"prepare_s", 0.5}, {"rest_s", 2.0}, {"train_s", 1.5}}));
  EXPECT_EQ(today["phases"]["files_for_peer"]["seconds_s"], 1.5);
  EXPECT_FALSE(today["phases"].contains("hand_over"));
  EXPECT_EQ(today["shared"], Json({{"prepare", Json::object()}}));
  EXPECT_EQ(read(today), today) << "once is enough";
  old["phases"]["convert"]["seconds_s"] = 0.75;
  EXPECT_EQ(read(old)["clocks"]["prepare_s"], 0.75) << "its own work stays";
}

TEST_F(ResultFile, ALineCutInTheMiddleIsNotUsed) {
  const std::string whole = footer().dump();
  std::ofstream(path) << "{\"type\": \"header\"}\n"
                      << point(1).dump() << "\n"
                      << whole.substr(0, 40);
  const auto file = read_result_file(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->trace.size(), 1u);
  EXPECT_FALSE(file->finished());
  EXPECT_FALSE(file->damage) << "so a killed run leaves it";
  // Even a last line that happens to parse was not written to its end.
  std::ofstream(path) << "{\"type\": \"header\"}\n" << whole;
  EXPECT_FALSE(read_result_file(path)->finished());
}

TEST_F(ResultFile, ADamagedLineIsNamedAndNothingFromItOnIsUsed) {
  const std::string header = "{\"type\":\"header\"}";
  const std::string no_clocks = R"({"type":"footer","status":"completed","updates":1})";
  const std::string no_status = R"({"type":"footer","updates":1,"clocks":{"train_s":1}})";
  for (const std::string& bad :
       {std::string("garbage"), std::string("[]"), std::string("{\"type\":1}"), std::string("{}"),
        std::string("{\"type\":\"trace\",\"epoch\":\"1\"}"), std::string(), no_clocks, no_status}) {
    std::ofstream(path) << header << "\n" << bad << "\n" << footer().dump() << "\n";
    const auto file = read_result_file(path);
    ASSERT_TRUE(file);
    EXPECT_FALSE(file->finished()) << bad;
    EXPECT_TRUE(contains(file->damage.value_or(""), path + ": line 2: found " + bad)) << bad;
    std::ofstream(path) << bad << "\n";
    EXPECT_TRUE(contains(read_result_file(path)->damage.value_or(""), ": line 1: ")) << bad;
  }
  EXPECT_FALSE(read_result_file(folder / "none.jsonl"));
}

TEST_F(ResultFile, AVersionThatIsNotKnownIsNotRead) {
  std::ofstream(path) << "{\"type\":\"header\",\"schema_version\":2}\n" << footer().dump() << "\n";
  const auto file = read_result_file(path);
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->finished());
  EXPECT_EQ(file->damage.value_or(""),
            path + ": line 1: found schema_version 2, and this version knows 1 only");
}

TEST_F(ResultFile, WhatIsNoUtf8IsWrittenAllTheSame) {
  ResultWriter writer(path);
  writer.append({{"type", "header"},
                 {"text",
                  "a\xff"
                  "b"}});
  EXPECT_EQ(read_result_file(path)->header["text"], "a\uFFFDb");
}

TEST_F(ResultFile, IsSetAsideUnderTheFirstFreeName) {
  for (int n = 1; n <= 2; ++n) {
    std::ofstream(path) << n;
    EXPECT_EQ(set_aside(path), path + ".partial-" + std::to_string(n));
  }
}

// A limit of the process stands in for a full disk: the same write(2) fails.
TEST_F(ResultFile, AFullDiskIsAnErrorAndKeepsTheEarlierLines) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {600, 600};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ResultWriter writer(path);
    writer.append({{"type", "header"}, {"case_id", "a"}});
    std::string message;
    for (int i = 0; i < 100 && message.empty(); ++i) {
      try {
        writer.append(long_point(i));
      } catch (const Error& error) {
        message = error.what();
      }
    }
    ::_exit(contains(message, "a.jsonl: cannot be written") && contains(message, "kept") ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text.back(), '\n') << "no torn line stays";
  EXPECT_GT(read_result_file(path)->trace.size(), 3u);
}

int descriptor_of(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code none;
    if (std::filesystem::equivalent(entry.path(), path, none))
      return std::stoi(entry.path().filename().string());
  }
  return -1;
}

// A network file system says so only when the file is closed. A descriptor that is gone stands in.
TEST_F(ResultFile, WhatTheSystemCouldNotKeepIsAnErrorAtItsEnd) {
  for (const bool on_disk : {true, false}) {
    const std::string kept = folder / (on_disk ? "a.jsonl" : "b.jsonl");
    ResultWriter whole(kept);
    whole.append({{"type", "header"}});
    whole.end(on_disk);
    ResultWriter lost(kept + "2");
    ::close(descriptor_of(kept + "2"));
    EXPECT_HAS(message_of([&] { lost.end(on_disk); }), "2: cannot be written to the disk");
  }
}

TEST_F(ResultFile, IsWrittenByOneProcessAlone) {
  const ResultWriter first(path);
  EXPECT_HAS(message_of([&] { ResultWriter second(path); }), "cannot be written");
}

TEST(JsonValues, AreNothingWhereAKeyIsMissingOrOfAnotherType) {
  const Json json = {{"a", {{"b", 1.5}, {"n", 3}, {"s", "x"}, {"null", nullptr}}}, {"c", 2}};
  EXPECT_EQ(number_at(json, {"a", "b"}), 1.5);
  EXPECT_EQ(number_at(json, {"a", "n"}), 3);
  EXPECT_EQ(integer_at(json, {"a", "n"}), 3);
  EXPECT_EQ(text_at(json, {"a", "s"}), "x");
  EXPECT_FALSE(integer_at(json, {"a", "b"}));
  EXPECT_FALSE(number_at(json, {"a", "s"}));
  EXPECT_FALSE(number_at(json, {"a", "null"}));
  EXPECT_FALSE(text_at(json, {"a", "none"}));
  EXPECT_FALSE(number_at(json, {"c", "b"})) << "no object";
  EXPECT_TRUE(value_at(nullptr, {"a"}).is_null());
  EXPECT_EQ(value_at(json, {"c"}), 2);
}

TEST(NumberOrNull, JsonHasNoNaN) {
  EXPECT_TRUE(number_or_null(std::optional<double>()).is_null());
  EXPECT_TRUE(number_or_null(std::nan("")).is_null());
  EXPECT_EQ(number_or_null(1.5), 1.5);
}

}  // namespace
}  // namespace mf
