// How factors are kept in memory; arithmetic is fp32.
#pragma once

#include <cstdint>
#include <string>

#include "algorithms/core/params.hpp"
#include "algorithms/core/rows.hpp"

namespace mf {

enum class Storage { fp32, fp16, bf16 };
inline constexpr Names kStorages{std::to_array<Named<Storage>>(
    {{"fp32", Storage::fp32}, {"fp16", Storage::fp16}, {"bf16", Storage::bf16}})};

enum class Rounding { nearest, stochastic };
inline constexpr Names kRoundings{std::to_array<Named<Rounding>>(
    {{"nearest", Rounding::nearest}, {"stochastic", Rounding::stochastic}})};

inline ParamSpec storage_param() {
  return ParamSpec::choice("storage", Storage::fp16, kStorages,
                           "type of P and Q in memory; arithmetic is fp32");
}
inline ParamSpec rounding_param(Rounding fallback) {
  return ParamSpec::choice("rounding", fallback, kRoundings, "to fp16 and bf16");
}
inline Storage read_storage(const Params& params) { return params.choice("storage", kStorages); }
inline bool read_stochastic(const Params& params) {
  return params.choice("rounding", kRoundings) == Rounding::stochastic;
}

constexpr int storage_bytes(Storage storage) { return storage == Storage::fp32 ? 4 : 2; }

// Values from one row to the next: whole words of 16 bytes.
constexpr std::int64_t storage_stride(Storage storage, std::int64_t factors) {
  return row_stride(factors, storage_bytes(storage));
}

// The words of 16 bytes of a row.
constexpr std::int64_t storage_words(Storage storage, std::int64_t factors) {
  return storage_stride(storage, factors) * storage_bytes(storage) / kWordBytes;
}

// Device bytes of a number of P or Q: as stored, and, of the narrow types, its fp32 copy for the
// evaluator.
constexpr double stored_number_bytes(Storage storage) {
  return storage == Storage::fp32 ? 4 : storage_bytes(storage) + 4;
}

}  // namespace mf
