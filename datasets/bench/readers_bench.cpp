// Throughput of the readers, in bytes of text, and of building the matrix, in ratings. Files of
// about 64 MB are generated in a temporary folder; they are read from the page cache.
// $MFBENCH_BENCH_RATINGS (default 10 M of the matrix) for other sizes.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "base/rng.hpp"
#include "datasets/ratings/ratings.hpp"
#include "datasets/readers/readers.hpp"
#include "testing/bench_env.hpp"
#include "testing/bench_threads.hpp"
#include "testing/temp_folder.hpp"

namespace mf {
namespace {

// 64 MB, or about 20 bytes for each of $MFBENCH_BENCH_RATINGS.
const std::size_t kFileBytes = static_cast<std::size_t>(20 * bench_ratings(0)) > 0
                                   ? static_cast<std::size_t>(20 * bench_ratings(0))
                                   : std::size_t{64} << 20;
constexpr std::int32_t kUsers = 162541;
constexpr std::int32_t kItems = 59047;

// One line of a rating; half steps as in MovieLens if the format's own data have them.
using Line = void (*)(fmt::memory_buffer& out, Rng& rng);

std::int32_t user(Rng& rng) { return 1 + static_cast<std::int32_t>(rng.below(kUsers)); }
std::int32_t item(Rng& rng) { return 1 + static_cast<std::int32_t>(rng.below(kItems)); }
double half_steps(Rng& rng) { return static_cast<double>(1 + rng.below(10)) / 2; }

const std::map<std::string, std::pair<const char*, Line>>& formats() {
  static const std::map<std::string, std::pair<const char*, Line>> all = {
      {"movielens-tab",
       {"",
        [](fmt::memory_buffer& out, Rng& rng) {
          fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}\n", user(rng), item(rng),
                         1 + rng.below(5), 874724710 + rng.below(20000000));
        }}},
      {"double-colon",
       {"",
        [](fmt::memory_buffer& out, Rng& rng) {
          fmt::format_to(std::back_inserter(out), "{}::{}::{}::{}\n", user(rng), item(rng),
                         1 + rng.below(5), 956703932 + rng.below(90000000));
        }}},
      {"csv",
       {"userId,movieId,rating,timestamp\n",
        [](fmt::memory_buffer& out, Rng& rng) {
          fmt::format_to(std::back_inserter(out), "{},{},{:.1f},{}\n", user(rng), item(rng),
                         half_steps(rng), 956703932 + rng.below(600000000));
        }}},
      {"triples",
       {"",
        [](fmt::memory_buffer& out, Rng& rng) {
          fmt::format_to(std::back_inserter(out), "{} {} {:.1f}\n", user(rng), item(rng),
                         half_steps(rng));
        }}},
      {"netflix",
       {"1:\n",
        [](fmt::memory_buffer& out, Rng& rng) {
          if (rng.below(5654) == 0) {  // ratings per movie of the Netflix Prize
            fmt::format_to(std::back_inserter(out), "{}:\n", 1 + rng.below(17770));
          }
          fmt::format_to(std::back_inserter(out), "{},{},2005-{:02}-{:02}\n",
                         1 + rng.below(2649429), 1 + rng.below(5), 1 + rng.below(12),
                         1 + rng.below(28));
        }}},
      // The sizes are filled in once the lines are counted.
      {"matrix-market",
       {"%%MatrixMarket matrix coordinate real general\n",
        [](fmt::memory_buffer& out, Rng& rng) {
          fmt::format_to(std::back_inserter(out), "{} {} {:.1f}\n", user(rng), item(rng),
                         half_steps(rng));
        }}},
  };
  return all;
}

const std::string& generated_file(const std::string& format) {
  static const TempFolder folder;
  static std::map<std::string, std::string> paths;
  std::string& path = paths[format];
  if (!path.empty()) return path;
  const auto& [head, line] = formats().at(format);
  Rng rng(1);
  fmt::memory_buffer body;
  std::size_t lines = 0;
  for (; body.size() < kFileBytes; ++lines) line(body, rng);
  path = folder / (format);
  std::ofstream out(path, std::ios::binary);
  out << head;
  if (format == "matrix-market") out << kUsers << ' ' << kItems << ' ' << lines << '\n';
  out.write(body.data(), static_cast<std::streamsize>(body.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
  return path;
}

void read_text(benchmark::State& state, const std::string& format) {
  ReadOptions options;
  options.format = format;
  options.threads = static_cast<int>(state.range(0));
  const std::string& path = generated_file(format);
  std::size_t ratings = 0;
  for (auto _ : state) ratings += read_ratings(path, options).values.size();
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  state.SetBytesProcessed(state.iterations() * bytes);
  state.counters["ratings"] =
      benchmark::Counter(static_cast<double>(ratings), benchmark::Counter::kIsRate);
}

// Ratings in random order, items of a long-tailed popularity.
RawRatings random_raw(std::size_t count) {
  Rng rng(2);
  RawRatings raw;
  raw.users.resize(count);
  raw.items.resize(count);
  raw.values.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = rng.uniform();
    raw.users[i] = user(rng);
    raw.items[i] = 1 + static_cast<std::int32_t>(x * x * kItems);
    raw.values[i] = static_cast<float>(half_steps(rng));
  }
  return raw;
}

const auto kRatings = static_cast<std::size_t>(bench_ratings(10'000'000));

void set_ratings(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRatings));
}

void build_matrix(benchmark::State& state) {
  const RawRatings raw = random_raw(kRatings);
  for (auto _ : state) {
    state.PauseTiming();
    RawRatings copy = raw;
    state.ResumeTiming();
    benchmark::DoNotOptimize(make_ratings(std::move(copy), DuplicatePolicy::last,
                                          static_cast<int>(state.range(0)), "bench"));
  }
  set_ratings(state);
}

void build_columns(benchmark::State& state) {
  const Ratings ratings = make_ratings(random_raw(kRatings), DuplicatePolicy::last, 2, "bench");
  for (auto _ : state) {
    benchmark::DoNotOptimize(make_csc(ratings, static_cast<int>(state.range(0))));
  }
  set_ratings(state);
}

#define MF_BENCH(...)           \
  BENCHMARK(__VA_ARGS__)        \
      ->Apply(thread_counts)    \
                                \
      ->MeasureProcessCPUTime() \
      ->UseRealTime()           \
      ->Unit(benchmark::kMillisecond)
#define MF_READ(id, name)                \
  BENCHMARK_CAPTURE(read_text, id, name) \
      ->Apply(thread_counts)             \
                                         \
      ->MeasureProcessCPUTime()          \
      ->UseRealTime()                    \
      ->Unit(benchmark::kMillisecond)

MF_READ(movielens_tab, "movielens-tab");
MF_READ(double_colon, "double-colon");
MF_READ(csv, "csv");
MF_READ(triples, "triples");
MF_READ(netflix, "netflix");
MF_READ(matrix_market, "matrix-market");
MF_BENCH(build_matrix);
MF_BENCH(build_columns);

}  // namespace
}  // namespace mf
