// The parameters of als_fused, resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/als/fused/layout.hpp"
#include "algorithms/als/settings.hpp"
#include "algorithms/core/streaming/streaming.hpp"

namespace mf::als {

inline constexpr Names kFusedPrecisions{std::to_array<Named<FusedPrecision>>(
    {{"fp16", FusedPrecision::fp16}, {"fp16x2", FusedPrecision::fp16x2}})};

inline constexpr Names kFusedNormals{
    std::to_array<Named<FusedNormal>>({{"auto", FusedNormal::automatic},
                                       {"formed", FusedNormal::formed},
                                       {"applied", FusedNormal::applied}})};

inline constexpr Names kFusedProducts{std::to_array<Named<FusedProducts>>(
    {{"auto", FusedProducts::automatic}, {"warp", FusedProducts::warp}})};

struct FusedSettings {
  Common common;
  FusedPrecision precision;
  FusedNormal normal;
  FusedProducts products;
  std::int64_t split_rows;  // longest run of a row's ratings that one thread block takes
  Streaming streaming = {};
};

inline constexpr std::int64_t kLongestPart = 8192;  // ratings of a row for one thread block
inline constexpr int kMultiprocessors = 132;        // of an H100 or H200, whatever the device is

// Most ratings of a thread block: of `split_rows` if A is formed.
std::int64_t longest_part(int factors, std::int64_t split_rows);
// With few `ratings` in all, one long row, or the launch of one kernel, takes a part of a
// half-step. Only their number decides, so that any number of devices gives the same bits.
//
// Most ratings of a thread block, beside longest_part(): a block's share of all.
std::int64_t part_of_few(const FusedSettings& settings, std::int64_t ratings);
// FusedNormal::automatic forms all rows of few.
FusedNormal normal_of(const FusedSettings& settings, std::int64_t ratings);
// Why the kernel of applied rows cannot take rows that it must, here and in ials_fused.
std::optional<std::string> why_not_applied(int factors, FusedPrecision precision,
                                           FusedNormal normal);

std::vector<ParamSpec> fused_params();
FusedSettings read_fused_settings(const Params& params);
std::optional<std::string> fused_why_unsupported(const Params& params, const ProblemShape& shape);
MemoryUse fused_memory(const Params& params);

// Of this algorithm and of ials_fused, whose half-steps take `more` bytes of a row; `longest` is
// the longest part of a split row.
StreamingNeed fused_need(int factors, FusedPrecision precision, std::int64_t longest, double more,
                         const ProblemShape& shape);
StreamingNeed fused_need(const FusedSettings& settings, const ProblemShape& shape);
MemoryUse streamed_memory(const StreamingNeed& of_row);

}  // namespace mf::als
