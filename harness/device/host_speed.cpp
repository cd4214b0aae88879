#include "harness/device/host_speed.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>
#include <optional>

#include "base/aligned.hpp"
#include "base/host/memory_limit.hpp"
#include "base/json/json.hpp"
#include "base/threads.hpp"

namespace mf {
namespace {

constexpr int kTries = 3;
constexpr std::int64_t kLine = 64;  // bytes
// Sizes for one core's caches, the shared cache, and memory.
constexpr std::int64_t kSizes[] = {std::int64_t{1} << 20, std::int64_t{1} << 24,
                                   std::int64_t{1} << 28};
constexpr std::int64_t kMultiplications = 3'000'000;
constexpr std::int64_t kCyclesOfOne = 3;  // of x86-64 since 2008 and of 64-bit Arm
constexpr std::int64_t kLoads = 100'000;

// Makes the compiler believe that the value is used, so that it is computed.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r"(value) : "memory");
}

template <class Work>
double best_seconds(const Work& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  return best;
}

// By a chain of multiplications, each of which waits for the one before.
double clock_hz() {
  std::uint64_t factor = 0x9E3779B97F4A7C15;
  asm volatile("" : "+r"(factor));  // not a constant
  const double seconds = best_seconds([&] {
    std::uint64_t product = 1;
    for (std::int64_t i = 0; i < kMultiplications; ++i) product *= factor;
    keep(product);
  });
  return static_cast<double>(kMultiplications * kCyclesOfOne) / seconds;
}

// The first word of each line has the number of the line that comes next; all lines are one circle
// in an order that no prefetcher knows: i -> a i + c mod 2^k is one if c is odd and 4 divides a - 1
// (Hull and Dobell 1962).
void link_lines(AlignedVector<std::uint64_t>& words, std::uint64_t lines) {
  for (std::uint64_t i = 0; i < lines; ++i) {
    words[i * (kLine / 8)] = (i * 0x5851F42D4C957F2D + 0x14057B7EF767814F) % lines;
  }
}

double latency_s(AlignedVector<std::uint64_t>& words, std::int64_t bytes) {
  link_lines(words, static_cast<std::uint64_t>(bytes / kLine));
  std::uint64_t line = 0;
  const double seconds = best_seconds([&] {
    for (std::int64_t i = 0; i < kLoads; ++i) line = words[line * (kLine / 8)];
    keep(line);
  });
  return seconds / static_cast<double>(kLoads);
}

// One half of the words to the other.
double copy_bytes_s(AlignedVector<std::uint64_t>& words, ThreadTeam& team) {
  constexpr std::int64_t kChunk = std::int64_t{1} << 15;  // words
  const std::int64_t half = std::ssize(words) / 2;
  const double seconds = best_seconds([&] {
    team.for_chunks(half, kChunk, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(words.data() + half + begin, words.data() + begin,
                  static_cast<std::size_t>(end - begin) * 8);
    });
  });
  return static_cast<double>(2 * 8 * half) / seconds;
}

std::optional<AlignedVector<std::uint64_t>> words_of(std::int64_t bytes) {
  if (bytes > memory_limit().available.bytes / 2) return std::nullopt;
  try {
    return AlignedVector<std::uint64_t>(bytes / 8);
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

}  // namespace

HostSpeed measure_host_speed() {
  HostSpeed speed;
  speed.clock_hz = clock_hz();
  for (const std::int64_t bytes : kSizes) {
    auto words = words_of(bytes);
    if (!words) continue;
    speed.latencies.push_back({bytes, latency_s(*words, bytes)});
    if (bytes == kSizes[std::size(kSizes) - 1]) {
      ThreadTeam team(hardware_threads());
      speed.copy_bytes_s = copy_bytes_s(*words, team);
    }
  }
  return speed;
}

Json to_json(const HostSpeed& speed) {
  Json latencies = Json::array();
  for (const LoadLatency& one : speed.latencies) {
    latencies.push_back({{"bytes", one.bytes}, {"seconds", one.seconds}});
  }
  return {{"clock_hz", speed.clock_hz},
          {"load_latency", latencies},
          {"copy_bytes_s", speed.copy_bytes_s}};
}

}  // namespace mf
