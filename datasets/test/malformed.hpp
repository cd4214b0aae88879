// The errors of malformed files. They are the same for any number of threads and any division into
// chunks.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "datasets/readers/readers.hpp"
#include "testing/reader_support.hpp"

namespace mf::test {

class Malformed : public ::testing::Test {
 protected:
  std::string error(const std::string& text, const std::string& format, const char* name = "bad",
                    IdKind ids = IdKind::automatic) {
    write_file(folder_ / name, text);
    std::set<std::string> messages;
    for (const int threads : {1, 3}) {
      for (const std::size_t chunk : {1U, 10U, 1000U}) {
        ReadOptions options = options_of(format, threads);
        options.ids = ids;
        const Error e = error_of([&] { read_ratings_chunked(folder_ / name, options, chunk); });
        EXPECT_EQ(e.kind(), ErrorKind::data) << e.what();
        messages.insert(e.what());
      }
    }
    EXPECT_EQ(messages.size(), 1U) << *messages.begin() << "\n" << *messages.rbegin();
    return *messages.begin();
  }
  Error refusal(const std::string& name, const std::string& format = "auto") {
    return error_of([&] { read_ratings(folder_ / name, options_of(format)); });
  }
  TempFolder folder_;
};

}  // namespace mf::test
