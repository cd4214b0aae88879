// How factors are kept in memory; arithmetic is fp32.
#pragma once

#include <cstdint>
#include <string>

#include "algorithms/core/params.hpp"

namespace mf {

enum class Storage { fp32, fp16, bf16 };

ParamSpec storage_param();                           // `storage`, default fp16
ParamSpec rounding_param(std::string default_kind);  // `rounding`: nearest or stochastic
Storage read_storage(const Params& params);
bool read_stochastic(const Params& params);

constexpr int storage_bytes(Storage storage) { return storage == Storage::fp32 ? 4 : 2; }

// Values from one row to the next: whole words of 16 bytes.
constexpr std::int64_t storage_stride(Storage storage, std::int64_t factors) {
  const std::int64_t values = 16 / storage_bytes(storage);
  return (factors + values - 1) / values * values;
}

// The words of 16 bytes of a row.
constexpr std::int64_t storage_words(Storage storage, std::int64_t factors) {
  return storage_stride(storage, factors) * storage_bytes(storage) / 16;
}

// Device bytes of one row of P or Q: as stored, and its fp32 copy for the evaluator.
constexpr double stored_row_bytes(Storage storage, std::int64_t factors) {
  return static_cast<double>(storage_stride(storage, factors) * storage_bytes(storage) +
                             storage_stride(Storage::fp32, factors) * 4);
}

}  // namespace mf
