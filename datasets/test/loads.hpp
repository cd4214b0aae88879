// Users' own data sets, each in its own folder, for the tests of requests, loads and commands.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "datasets/test/requests.hpp"
#include "testing/test_support.hpp"

namespace mf::test {

inline DatasetRequest parse(const std::string& text) {
  return parse_request(text, "$.datasets[0]");
}

inline std::string parse_error(const std::string& text) {
  const Error error = error_of([&] { parse(text); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  return error.what();
}

// Its own data and cache folders; warnings are expected and not shown.
class Load : public ::testing::Test {
 protected:
  Load() {
    environment_.set("MFBENCH_DATA", data_.path());
    environment_.set("MFBENCH_CACHE", cache_.path());
  }

  TempFolder data_;
  TempFolder cache_;
  Environment environment_;
  StandardError warnings_;
};

// The entry of a file, with more keys.
inline std::string file_entry(const std::string& path, const std::string& more = "") {
  return R"({"path": ")" + path + '"' + more + "}";
}

}  // namespace mf::test
