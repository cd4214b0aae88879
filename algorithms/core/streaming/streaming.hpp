// Where the ratings of an algorithm of the device are while it trains: all on the device, or in the
// memory of the host, from which they come in pieces (docs/larger-than-the-card.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/core/params.hpp"

namespace mf {

// automatic: on the device, and streamed if that fails for want of memory.
enum class RatingMemory { automatic, resident, streamed };
inline constexpr Names kRatingMemories{
    std::to_array<Named<RatingMemory>>({{"auto", RatingMemory::automatic},
                                        {"resident", RatingMemory::resident},
                                        {"streamed", RatingMemory::streamed}})};

struct Streaming {
  RatingMemory memory = RatingMemory::automatic;
  double device_bytes = 0;  // that the algorithm may allocate; 0: no limit
  std::int64_t piece = 0;   // most ratings of a piece; 0: by piece_ratings()
};

// memory, device_gb.
std::vector<ParamSpec> streaming_params();
Streaming read_streaming(const Params& params);

// Whether they are surely streamed; an algorithm may lack the parameters.
inline bool streams_ratings(const Params& params) {
  return params.has("memory") && read_streaming(params).memory == RatingMemory::streamed;
}

// Bytes of device memory that a case needs.
struct StreamingNeed {
  double resident = 0;  // with all ratings
  double fixed = 0;     // without any: factors, offsets, tasks
  double beside = 0;    // of a rating of a piece, beside the ring: sums of split rows
  std::optional<std::string> why_not_streamed = std::nullopt;
};

inline constexpr const char* kOneDevice =
    "several devices have the ratings between them; use one device";

// Why `memory` and `device_gb` refuse the case.
std::optional<std::string> why_not_within(const Streaming& streaming, const StreamingNeed& need);

// Whether the case begins with its ratings on the device.
bool tries_resident(const Streaming& streaming, const StreamingNeed& need);

// Memory for the pieces of streamed ratings.
struct PieceRule {
  std::int64_t ratings = 0;  // Streaming::piece
  double bytes = 0;          // of the device, for the ring and what is beside it
  double beside = 0;         // StreamingNeed::beside
};
struct PieceFacts {
  std::int64_t nnz = 0;
  std::int64_t longest_row = 0;
  double bytes = 0;  // of a rating of a piece in the ring
};
// Most ratings of a piece: a sixteenth of all, so that the first copy, beside which nothing runs,
// is short; but enough for a copy of some MB, and as many as the bytes allow. Throws Error(memory)
// if the longest row, which is one piece, has no room.
std::int64_t piece_ratings(const PieceRule& rule, const PieceFacts& facts);

}  // namespace mf
