// Where ratings are while an algorithm trains, and how large the pieces of streamed ones are.
#include "algorithms/core/streaming/streaming.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "testing/test_support.hpp"

namespace mf {
namespace {

constexpr double kGiB = std::int64_t{1} << 30;

Streaming read(const Json& changes) {
  return read_streaming(default_params(streaming_params(), changes));
}

TEST(Streaming, ParametersThatChangeNothingAreSilent) {
  EXPECT_EQ(default_params(streaming_params()).to_json(), Json::object());
  const Streaming asked = read({{"memory", "streamed"}, {"device_gb", 0.5}, {"piece", 7}});
  EXPECT_EQ(asked.memory, RatingMemory::streamed);
  EXPECT_EQ(asked.device_bytes, kGiB / 2);
  EXPECT_EQ(asked.piece, 7);
}

TEST(Streaming, AutoStreamsWhatIsLargerThanTheLimit) {
  StreamingNeed need{2 * kGiB, 0.5 * kGiB};
  EXPECT_TRUE(tries_resident(read(Json::object()), need));
  EXPECT_TRUE(tries_resident(read({{"device_gb", 2}}), need));
  EXPECT_FALSE(tries_resident(read({{"device_gb", 1}}), need));
  EXPECT_FALSE(tries_resident(read({{"memory", "streamed"}}), need));
  EXPECT_TRUE(tries_resident(read({{"memory", "resident"}, {"device_gb", 1}}), need));
  need.why_not_streamed = "it cannot";
  EXPECT_TRUE(tries_resident(read({{"device_gb", 1}}), need));
}

TEST(Streaming, RefusalsNameTheParameter) {
  StreamingNeed need{2 * kGiB, 0.5 * kGiB};
  const auto why = [&](const Json& changes) {
    return why_not_within(read(changes), need).value_or("");
  };
  EXPECT_EQ(why(Json::object()), "");
  EXPECT_EQ(why({{"device_gb", 1}}), "");
  EXPECT_EQ(why({{"memory", "streamed"}, {"device_gb", 1}}), "");
  EXPECT_EQ(why({{"memory", "resident"}, {"device_gb", 2}}), "");
  EXPECT_HAS(why({{"memory", "resident"}, {"device_gb", 1}}),
             "device_gb 1: factors and ratings need about 2.0 GiB");
  EXPECT_HAS(why({{"device_gb", 0.25}}), "device_gb 0.25: the factors need 512.0 MiB");
  EXPECT_HAS(why({{"memory", "streamed"}, {"device_gb", 0.25}}), "use fewer factors");
  need.why_not_streamed = "it cannot";
  EXPECT_EQ(why(Json::object()), "");
  EXPECT_EQ(why({{"memory", "streamed"}}), "memory \"streamed\": it cannot");
  EXPECT_HAS(why({{"device_gb", 1}}), "not possible here: it cannot");
}

TEST(Streaming, PiecesAreASixteenthWithinTheirRoom) {
  const auto most = [](std::int64_t nnz, double bytes, double beside = 0) {
    return piece_ratings({0, bytes, beside}, {nnz, 1000, 20});
  };
  EXPECT_EQ(most(100'000'000, 1e9), 6'250'000);
  EXPECT_EQ(most(100'000'000, 1e8), 5'000'000);
  EXPECT_EQ(most(100'000'000, 1e8, 5), 4'000'000);
  EXPECT_EQ(most(1'000'000, 1e9), std::int64_t{1} << 22) << "copies are not shorter";
  EXPECT_EQ(most(100'000'000'000, 1e12), std::int64_t{1} << 25);
  EXPECT_EQ(piece_ratings({3, 1e9, 0}, {1'000'000, 1000, 20}), 3);
}

TEST(Streaming, ALongestRowWithoutRoomIsRefused) {
  EXPECT_EQ(piece_ratings({0, 20'000, 0}, {100'000, 1000, 20}), 1000);
  for (const double bytes : {19'999.0, -1.0}) {
    try {
      piece_ratings({0, bytes, 0}, {100'000, 1000, 20});
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory);
      EXPECT_HAS(std::string(error.what()), "the longest row has 1000 ratings");
      EXPECT_HAS(std::string(error.what()), "raise device_gb");
    }
  }
}

}  // namespace
}  // namespace mf
