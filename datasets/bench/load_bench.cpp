// A data set from its files and from the cache. Counters: seconds of each stage (LoadSeconds),
// ratings or bytes a second. For a first load, without the cache file, also its share of the
// reader's rate, by the clock (of_reader) and by processor time of all threads (of_reader_cpu, for
// a busy machine); the reader runs before each load.
//
// $MFBENCH_BENCH_RATINGS (default 1 M; 100000000 for the size of Netflix): 12 bytes a rating for
// each binary file, about 17 for each text. They are in $TMPDIR.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>

#include "base/clock.hpp"
#include "base/files/npy.hpp"
#include "base/threads.hpp"
#include "datasets/cache.hpp"
#include "datasets/from_files.hpp"
#include "datasets/readers/readers.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "testing/bench_env.hpp"
#include "testing/bench_threads.hpp"
#include "testing/temp_folder.hpp"

namespace mf {
namespace {

const TempFolder& folder() {
  static const TempFolder all;
  return all;
}

// A look-alike of Netflix in a random order.
const RawRatings& shuffled() {
  static const RawRatings raw = [] {
    const auto whole = static_cast<double>(look_alike_shape("netflix", 1).nnz);
    const auto wanted = static_cast<double>(bench_ratings(1'000'000));
    const Dataset data = make_look_alike("netflix", wanted / whole, 1, hardware_threads());
    const std::int64_t n = data.ratings.nnz();
    RawRatings out;
    out.users.resize(n);
    out.items.resize(n);
    out.values.resize(n);
    // A step that has no divisor with n goes through all places, far apart.
    std::int64_t step = 611'953 % n;
    while (std::gcd(step, n) != 1) ++step;
    for (std::int64_t i = 0, at = 0; i < n; ++i, at = (at + step) % n) {
      const Rating r = data.ratings[at];
      out.users[i] = 1 + 5 * r.user;  // ids with gaps
      out.items[i] = 1 + r.item;
      out.values[i] = r.value;
    }
    return out;
  }();
  return raw;
}

std::string npy_folder() {
  const std::string path = folder() / "npy";
  if (std::filesystem::exists(path)) return path;
  std::filesystem::create_directory(path);
  write_npy<std::int32_t>(path + "/users.npy", View(shuffled().users));
  write_npy<std::int32_t>(path + "/items.npy", View(shuffled().items));
  write_npy<float>(path + "/ratings.npy", View(shuffled().values));
  return path;
}

std::string text_file(const std::string& name, char separator) {
  const std::string path = folder() / name;
  if (std::filesystem::exists(path)) return path;
  std::ofstream out(path, std::ios::binary);
  if (separator == ',') out << "user,item,rating\n";
  fmt::memory_buffer lines;
  const std::int64_t end = std::ssize(shuffled().users);
  for (std::int64_t i = 0; i < end; ++i) {
    fmt::format_to(std::back_inserter(lines), "{}{}{}{}{}\n", shuffled().users[i], separator,
                   shuffled().items[i], separator, shuffled().values[i]);
    if (lines.size() < (1 << 20) && i + 1 < end) continue;
    out.write(lines.data(), static_cast<std::streamsize>(lines.size()));
    lines.clear();
  }
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
  return path;
}

std::string source_path(const std::string& format) {
  if (format == "npy") return npy_folder();
  return format == "csv" ? text_file("r.csv", ',') : text_file("r.txt", ' ');
}

void set_ratings(benchmark::State& state) {
  state.counters["ratings"] = benchmark::Counter(static_cast<double>(std::ssize(shuffled().users)),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

void set_mean(benchmark::State& state, const char* name, double sum) {
  state.counters[name] = sum / static_cast<double>(state.iterations());
}

ReadOptions read_options(const benchmark::State& state, const std::string& format) {
  ReadOptions options;
  options.format = format;
  options.threads = static_cast<int>(state.range(0));
  return options;
}

// Seconds by the clock and of processors.
struct Spent {
  double wall = 0, cpu = 0;

  template <class Make>
  auto add(const Make& make) {
    const auto start = Clock::now();
    const std::clock_t cpu_start = std::clock();
    auto made = make();
    wall += seconds_since(start);
    cpu += static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
    return made;
  }
};

void first(benchmark::State& state, const std::string& format) {
  const ReadOptions options = read_options(state, format);
  const int threads = options.threads;
  const std::string from = source_path(format);
  Source source;
  source.kind = "file";
  source.files = {{from, "file", format, "", kTrain}};
  LoadSeconds sum;
  Spent reader, load;
  const std::string path = folder() / "first.mfc";
  for (auto _ : state) {
    state.PauseTiming();
    reader.add([&] { return read_ratings(from, options); });
    state.ResumeTiming();
    const Dataset data = cached(
        path, "k", [&] { return load.add([&] { return read_source(source, threads); }); }, threads);
    sum.read += data.load.read;
    sum.matrix += data.load.matrix;
    sum.hash += data.load.hash;
    sum.cache += data.load.cache;
    state.PauseTiming();
    std::filesystem::remove(path);
    state.ResumeTiming();
  }
  set_ratings(state);
  state.counters["of_reader"] = reader.wall / load.wall;
  state.counters["of_reader_cpu"] = reader.cpu / load.cpu;
  set_mean(state, "read_s", sum.read);
  set_mean(state, "matrix_s", sum.matrix);
  set_mean(state, "hash_s", sum.hash);
  set_mean(state, "cache_s", sum.cache);
}

const Dataset& canonical_data() {
  static const Dataset data = [] {
    Dataset made;
    RawRatings raw = shuffled();
    made.ratings =
        make_ratings(std::move(raw), DuplicatePolicy::error, hardware_threads(), "bench");
    return made;
  }();
  return data;
}

void second(benchmark::State& state) {
  const std::string path = folder() / "second.mfc";
  if (!std::filesystem::exists(path)) write_cache(path, canonical_data(), hardware_threads());
  for (auto _ : state) {
    benchmark::DoNotOptimize(read_cache(path, static_cast<int>(state.range(0))).parts.all.data());
  }
  state.SetBytesProcessed(state.iterations() * canonical_data().ratings.bytes());
}

#define MF_LOAD(...) \
  BENCHMARK_CAPTURE(__VA_ARGS__)->Apply(thread_counts)->UseRealTime()->Unit(benchmark::kMillisecond)

MF_LOAD(first, npy, "npy");
MF_LOAD(first, csv, "csv");
MF_LOAD(first, triples, "triples");
BENCHMARK(second)->Apply(thread_counts)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mf
