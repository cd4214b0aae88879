#include "algorithms/core/streaming/streaming.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

constexpr double kGiB = std::int64_t{1} << 30;
constexpr std::int64_t kPiecesOfPass = 16;
constexpr std::int64_t kLeastPiece = std::int64_t{1} << 22;  // 9 MB of Netflix by user
constexpr std::int64_t kMostPiece = std::int64_t{1} << 25;

bool fits(const Streaming& streaming, double bytes) {
  return streaming.device_bytes == 0 || bytes <= streaming.device_bytes;
}

}  // namespace

std::vector<ParamSpec> streaming_params() {
  return {ParamSpec::choice("memory", RatingMemory::automatic, kRatingMemories,
                            "where the ratings are: on the device (resident), or on the host and "
                            "sent in pieces (streamed); auto: streamed if they do not fit")
              .silent(),
          ParamSpec::number("device_gb", 0, 0, 1e6,
                            "most memory of the device for factors and ratings, to try a smaller "
                            "one; 0: what is free",
                            "GiB")
              .silent(),
          ParamSpec::constant("piece", std::int64_t{0}).silent()};
}

Streaming read_streaming(const Params& params) {
  return {params.choice("memory", kRatingMemories), params.number("device_gb") * kGiB,
          params.integer("piece")};
}

std::optional<std::string> why_not_within(const Streaming& streaming, const StreamingNeed& need) {
  const auto& why_not = need.why_not_streamed;
  if (streaming.memory == RatingMemory::streamed) {
    if (why_not) return "memory \"streamed\": " + *why_not;
  } else {
    if (fits(streaming, need.resident)) return std::nullopt;
    if (streaming.memory == RatingMemory::resident || why_not) {
      return fmt::format(
          "device_gb {:.6g}: factors and ratings need about {} on the device; raise it, or use "
          "memory \"streamed\"{}",
          streaming.device_bytes / kGiB, format_bytes(need.resident),
          why_not ? ", which is not possible here: " + *why_not : "");
    }
  }
  if (fits(streaming, need.fixed)) return std::nullopt;
  return fmt::format(
      "device_gb {:.6g}: the factors need {} on the device, without any ratings; raise it, or use "
      "fewer factors",
      streaming.device_bytes / kGiB, format_bytes(need.fixed));
}

bool tries_resident(const Streaming& streaming, const StreamingNeed& need) {
  if (streaming.memory != RatingMemory::automatic)
    return streaming.memory == RatingMemory::resident;
  return fits(streaming, need.resident) || need.why_not_streamed.has_value();
}

std::int64_t piece_ratings(const PieceRule& rule, const PieceFacts& facts) {
  const double of_rating = facts.bytes + rule.beside;
  const auto room = static_cast<std::int64_t>(std::max(0.0, rule.bytes / of_rating));
  if (facts.longest_row > room) {
    fail(ErrorKind::memory,
         "the longest row has {} ratings, and a piece of streamed ratings has whole rows: expected "
         "room for {} on the device beside the factors, found {}; raise device_gb, or use fewer "
         "factors",
         facts.longest_row, format_bytes(static_cast<double>(facts.longest_row) * of_rating),
         format_bytes(std::max(0.0, rule.bytes)));
  }
  if (rule.ratings > 0) return rule.ratings;
  return std::max<std::int64_t>(
      1, std::min(room, std::clamp(facts.nnz / kPiecesOfPass, kLeastPiece, kMostPiece)));
}

}  // namespace mf
