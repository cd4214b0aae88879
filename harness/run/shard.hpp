// A part of the cases of a spec, for machines that cannot share a folder: each n-th case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mf {

struct Shard {
  std::int64_t part = 1;  // from 1 on
  std::int64_t of = 1;

  // `index` is the case's place in the spec, from 0 on.
  bool has(std::size_t index) const;
  bool is_whole() const { return of == 1; }
  std::string to_text() const;  // "2/8"
};

// Throws Error(usage).
Shard parse_shard(const std::string& text);

}  // namespace mf
