#include "testing/fuzz/mutate.hpp"

#include <algorithm>
#include <random>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t room);

namespace mf::fuzz {
namespace {

// The start of an array's elements; 0 if it is not an array, or is to be changed as a whole.
std::size_t elements_of(std::string_view part, std::minstd_rand& random) {
  if (!part.starts_with("\x93NUMPY") || random() % 4 == 0) return 0;
  const std::size_t end = part.find('\n');
  return end == std::string_view::npos ? 0 : end + 1;
}

}  // namespace

std::size_t mutate_bytes(std::uint8_t* data, std::size_t size, std::size_t room) {
  return LLVMFuzzerMutate(data, size, room);
}

std::size_t mutate_parts(std::uint8_t* data, std::size_t size, std::size_t room, std::uint32_t seed,
                         std::size_t count) {
  std::minstd_rand random(seed);
  if (random() % 16 == 0) return mutate_bytes(data, size, room);  // lengths, too
  std::vector<std::string> parts;
  for (const auto part : parts_of({reinterpret_cast<const char*>(data), size}, count)) {
    parts.emplace_back(part);
  }
  std::string& part = parts[random() % count];
  const std::size_t others = join(parts).size() - part.size();
  const std::size_t begin = elements_of(part, random);
  const std::size_t old = part.size();
  part.resize(std::max(old + 1, room > others ? room - others : 0));
  const std::size_t changed = mutate_bytes(reinterpret_cast<std::uint8_t*>(part.data()) + begin,
                                           old - begin, part.size() - begin);
  part.resize(begin == 0 ? changed : old);
  const std::string whole = join(parts);
  if (whole.size() > room) return mutate_bytes(data, size, room);
  std::copy(whole.begin(), whole.end(), data);
  return whole.size();
}

}  // namespace mf::fuzz
