// Inputs of several files, and the mutations that keep such an input whole.
//
// A part is its length (4 bytes, little-endian) and its bytes; the last part reaches to the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mf::fuzz {

// Exactly `count` parts; those that are not there are empty.
std::vector<std::string_view> parts_of(std::string_view input, std::size_t count);
std::string join(const std::vector<std::string>& parts);

// libFuzzer's own mutation.
std::size_t mutate_bytes(std::uint8_t* data, std::size_t size, std::size_t room);

// Changes one of `count` parts. For an array in NumPy's format mostly only the elements, whose
// number stays, so that the arrays of an input go on fitting together.
std::size_t mutate_parts(std::uint8_t* data, std::size_t size, std::size_t room, std::uint32_t seed,
                         std::size_t count);

}  // namespace mf::fuzz
