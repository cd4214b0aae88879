#include "harness/run/plan/host_need.hpp"

#include <unistd.h>

#include "algorithms/core/registry.hpp"
#include "base/host/system_files.hpp"
#include "harness/evaluate/implicit_objective.hpp"
#include "harness/run/plan/preflight.hpp"
#include "harness/run/prepared.hpp"

namespace mf {
namespace {

// What CUDA's context and the code of kernels take of the host beyond the program, which has the
// libraries mapped; and cuBLAS and cuSOLVER once they are used. From
// results/reference/*/whole-run*, as host_need_test.cpp has it.
constexpr double kCudaHostBytes = 165e6;
constexpr double kLibraryHostBytes = 220e6;
// While ratings are sorted: they, and an entry of 8 bytes for each, seldom of 12. Or, where pairs
// occur twice, what is left of them once more.
constexpr double kEntryBytes = 8;
constexpr double kSortedBytes = 2 * kRatingBytes;
// And of those whose times are sorted (datasets/ratings/rating_times.cpp).
constexpr double kTimedBytes = 64;
// Ratings that a thread copies to their parts before it gives their memory back.
constexpr double kCutAtOnce = 4 * 65536;

struct Sizes {
  double nnz, times, users, items;
  // For one of so many ranks that have a share of the ratings each, and the offsets of all.
  Sizes(const HostData& data, const ProblemShape& shape, int slices = 1)
      : nnz(static_cast<double>(shape.nnz) / slices),
        times(data.times ? sizeof(RatingTime) * nnz : 0),
        users(static_cast<double>(shape.n_users)),
        items(static_cast<double>(shape.n_items)) {}

  double offsets() const { return 8 * (users + 1); }
  double ids() const { return 4 * (users + items); }
  // In memory, or as a file of the cache.
  double whole() const { return kRatingBytes * nnz + times + offsets() + ids(); }
};

// For training, test and what else there is: all ratings once, offsets of each, ids.
double parts_bytes(const Case& item, const HostData& data, const Sizes& sizes) {
  const double parts = 2.0 + (item.split.has_validation() ? 1 : 0) +
                       (item.split.kind == SplitSpec::Kind::users ? 1 : 0);
  return kRatingBytes * sizes.nnz - data.left_out_bytes + parts * sizes.offsets() + sizes.ids();
}

double facts_bytes(const Sizes& sizes) { return sizes.users + sizes.items + 8 * (sizes.items + 1); }

// For a slice: where the rows and columns of all ranks begin.
double slice_bytes(const HostData& data, const Sizes& sizes) {
  return data.slices > 1 ? 8 * (sizes.users + sizes.items + 2) : 0;
}

// Where rank 0 evaluates for all: beside the others' packed test ratings, it holds its own and
// those of all.
double gathered_bytes(const Case& item, const HostData& data, const Sizes& sizes) {
  const auto& of_ranks = find_algorithm(item.algorithm).ranks;
  if (data.slices == 1 || (of_ranks && of_ranks->factors_on_all)) return 0;
  const auto unseen = static_cast<double>(data.whole.nnz - data.train_nnz);
  const double of_others = 1 - 1.0 / data.slices;
  return kRatingBytes * unseen + kEntryBytes * of_others * unseen + sizes.offsets() + sizes.ids();
}

double read_bytes(const HostData& data, const Sizes& sizes) {
  switch (data.from) {
    case DataFrom::split_at_hand:
      return 0;
    case DataFrom::files:
      return std::max(
          data.source_bytes + kRatingBytes * sizes.nnz,
          (data.times ? kTimedBytes : kSortedBytes) * sizes.nnz + sizes.offsets() + sizes.ids());
    default:
      return sizes.whole() + data.making_bytes;
  }
}

double load_bytes(const HostData& data, const Sizes& sizes) {
  if (!data.before_rules || data.from == DataFrom::split_at_hand) return read_bytes(data, sizes);
  const Sizes before(data, *data.before_rules);
  return std::max(read_bytes(data, before), before.whole() + sizes.whole());
}

// The parts grow while the ratings that are copied already are given back.
double cut_bytes(const Case& item, const HostData& data, const Sizes& sizes) {
  if (data.from == DataFrom::split_at_hand) return 0;
  const double labels = item.split.draws_ratings() ? 0 : sizes.nnz;
  const double parts = parts_bytes(item, data, sizes) + labels;
  if (data.kept || data.from == DataFrom::ratings_at_hand) return sizes.whole() + parts;
  const double in_flight =
      std::min(kRatingBytes * kCutAtOnce * data.threads, kRatingBytes * sizes.nnz);
  return parts + sizes.times + in_flight + sizes.offsets() + sizes.ids();
}

double standing(const HostData& data) { return std::max(data.program_bytes, data.standing_bytes); }

// For a case that the host evaluates.
double evaluating_bytes(const Case& item, const HostData& data) {
  if (!has_objective(item) || needs_device(item)) return 0;
  const std::int64_t asked = item.params.has("threads") ? item.params.integer("threads") : 0;
  return objective_bytes(item.params.integer("factors"),
                         asked > 0 ? static_cast<int>(asked) : data.threads);
}

// For a sampler: the mean prediction of each rating that is evaluated, beside factors in device
// memory fetched for groups of users.
double means_bytes(const Case& item, const HostData& data) {
  if (!is_sampler(item) || (needs_device(item) && item.evaluate.user_groups == 0)) return 0;
  const std::int64_t unseen = needs_train_errors(item) ? 0 : data.train_nnz;
  return 4 * static_cast<double>(data.whole.nnz - unseen);
}

double train_bytes(const Case& item, const HostData& data, const Sizes& sizes) {
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  const ProblemShape train{data.whole.n_users, data.whole.n_items, data.train_nnz};
  const bool ranks = item.evaluate.rank.value_or(is_implicit(item));
  // Whom is ranked, and what they have seen.
  const double histories = ranks ? 4 * sizes.nnz + 16 * sizes.users : 0;
  const double own = info.memory ? info.memory(item.params, train).host_bytes : 0;
  return parts_bytes(item, data, sizes) + facts_bytes(sizes) + slice_bytes(data, sizes) +
         gathered_bytes(item, data, sizes) + model_bytes(item, train) + histories +
         evaluating_bytes(item, data) + means_bytes(item, data) + data.packed_bytes +
         (data.kept ? sizes.whole() : 0) +
         (needs_device(item) ? left_standing(item, data) : standing(data) + own);
}

}  // namespace

HostNeed host_need(const Case& item, const HostData& data) {
  const Sizes sizes(data, data.whole, data.slices);
  HostNeed need;
  need.load = standing(data) + load_bytes(data, sizes);
  need.cut = standing(data) + cut_bytes(item, data, sizes);
  need.train = train_bytes(item, data, sizes);
  if (data.from == DataFrom::split_at_hand) return need;
  HostData unshared = data;  // what was kept for others is given up where memory is short
  unshared.kept = false;
  if (unshared.from == DataFrom::ratings_at_hand) unshared.from = DataFrom::generator;
  need.surely = cut_bytes(item, unshared, sizes);
  if (data.from == DataFrom::files)
    need.surely = std::max(need.surely, (kRatingBytes + kEntryBytes) * sizes.nnz);
  return need;
}

double left_standing(const Case& item, const HostData& data) {
  if (!needs_device(item)) return standing(data);
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  const ProblemShape train{data.whole.n_users, data.whole.n_items, data.train_nnz};
  const MemoryNeed own = info.memory ? info.memory(item.params, train) : MemoryNeed{};
  const bool libraries = own.library_bytes > 0 || item.evaluate.rank.value_or(is_implicit(item));
  return std::max(standing(data), data.program_bytes + own.host_bytes + kCudaHostBytes +
                                      (libraries ? kLibraryHostBytes : 0));
}

double whole_bytes(const HostData& data) { return Sizes(data, data.whole).whole(); }

double resident_bytes() {
  static const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  const std::string text = system_text("/proc/self/statm");
  const auto sizes = words_in(text);  // all, resident, ...
  return sizes.size() > 1 ? number_in<double>(sizes[1]).value_or(0) * page : 0;
}

double program_bytes() {
  static const double bytes = resident_bytes();
  return bytes;
}

}  // namespace mf
