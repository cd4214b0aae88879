#include "harness/run/plan/preflight.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/memory_advice.hpp"
#include "base/ranks/mpi_ranks.hpp"
#include "base/text.hpp"
#include "datasets/load.hpp"
#include "harness/device/device.hpp"
#include "harness/evaluate/device/device_quality.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/ranks/rank_load.hpp"

namespace mf {

namespace {

// User, item and value of a rating; its time; two offsets and the id of a user or item.
constexpr double kRatingBytes = 12, kTimeBytes = 16, kRowBytes = 20;
constexpr double kPackedBytes = 3;  // of a training rating on its way to a device
// Of the program; with CUDA's context, its libraries and the memory for uploads.
constexpr double kProgramBytes = 25e6, kCudaBytes = 390e6;
constexpr double kRanksBytes = 420e6;  // of NCCL and its buffers, for a rank
// Of what is free on a device: the rest is for libraries, and for what is not counted.
constexpr double kShare = 0.9;

// Ranks of a case in this process: all, unless a launcher has started a process for each.
double ranks_here(const Case& item) { return launched_count() > 1 ? 1 : ranks_of(item.params); }

bool ranks_items(const Case& item) { return item.evaluate.rank.value_or(is_implicit(item)); }

// The most memory of one rank. The evaluator takes `evaluator` bytes beside the training, and
// `room` bounds the whole.
double most_bytes(const Case& item, BytesOf MemoryUse::*side, const ProblemShape& shape,
                  double evaluator, double room) {
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  const BytesOf of = info.memory ? info.memory(item.params).*side : BytesOf{};
  const double ranks = ranks_of(item.params);
  const double nnz = static_cast<double>(shape.nnz) / ranks;
  const auto items = static_cast<double>(shape.n_items);
  const auto longer = static_cast<double>(std::max(shape.n_users, shape.n_items));
  const double factors =
      item.params.has("factors") ? static_cast<double>(item.params.integer("factors")) : 0;
  const double always = of.fixed + of.item_pair * items * items;
  const double trained =
      always + of.rating * nnz + shape.rows() * (of.number * factors + of.row) + evaluator;
  const double batch = std::clamp(room - trained, 0.0, of.batch_row * longer / ranks);
  return std::max(always + of.preparing * nnz, trained + batch);
}

double evaluator_bytes(const Case& item, const CaseSizes& sizes) {
  const auto train = static_cast<double>(sizes.train.nnz);
  const auto others = static_cast<double>(sizes.others);
  const bool reads_train = has_objective(item) || needs_train_errors(item);
  const double errors =
      kRatingBytes * ((reads_train ? train : 0) + (is_implicit(item) ? 0 : others));
  if (!ranks_items(item)) return errors;
  const auto users = static_cast<double>(sizes.train.n_users);
  const auto asked = static_cast<double>(item.evaluate.ranking.users);
  const double ranked = asked > 0 ? std::min(1.0, asked / users) : 1.0;
  const double scores = 4 * ranked * users * static_cast<double>(sizes.train.n_items);
  const double ranking =
      4 * ranked * (train + others) + std::min(scores, static_cast<double>(kScoreBytes));
  return errors + ranking * (ranks_validation(item) ? 2 : 1);
}

// Memory of the ranks of a process for training, without the ratings. Rank 0 evaluates.
double training_bytes(const Case& item, const CaseSizes& sizes) {
  const auto train = static_cast<double>(sizes.train.nnz) / sizes.slices;
  const double histories = ranks_items(item) ? 4 * (train + static_cast<double>(sizes.others)) : 0;
  const bool cuts = !needs_device(item) && sizes.slices > 1;  // holds what it read meanwhile
  const auto of_rank = [&](double evaluator) {
    return most_bytes(item, &MemoryUse::host, sizes.train, evaluator, 0) +
           (uploads_ratings(item) ? kPackedBytes * train : 0) + (cuts ? kRatingBytes * train : 0);
  };
  return of_rank(histories) + (ranks_here(item) - 1) * of_rank(0);
}

double ratings_bytes(const Case& item, const CaseSizes& sizes) {
  const auto others = static_cast<double>(sizes.others);
  const double own = (static_cast<double>(sizes.train.nnz) + others) / sizes.slices;
  const double gathered = sizes.slices > 1 ? others : 0;  // by rank 0
  const double here = ranks_here(item);
  return kRatingBytes * (here * own + gathered) + here * kRowBytes * sizes.train.rows();
}

double train_share(const SplitSpec& split) {
  double test = 0;
  if (split.kind == SplitSpec::Kind::holdout) test = split.test_fraction;
  if (split.kind == SplitSpec::Kind::folds) test = 1.0 / split.folds;
  if (split.kind == SplitSpec::Kind::by_time) test = 1 - split.before_cut;  // of a date: a guess
  if (split.kind == SplitSpec::Kind::users) test = split.user_fraction;
  return (1 - test) * (1 - split.validation_fraction);
}

}  // namespace

std::optional<CaseSizes> expected_sizes(const Case& item) {
  const auto shape = expected_shape(item.data);
  if (!shape) return std::nullopt;
  const auto train =
      static_cast<std::int64_t>(static_cast<double>(shape->nnz) * train_share(item.split));
  CaseSizes sizes{{shape->n_users, shape->n_items, train}, shape->nnz - train};
  const bool cached = is_cached(item);
  sizes.from_files = !cached && item.data.like.empty() && item.data.expand.empty();
  if ((cached || is_cacheable(item.data)) && why_whole(item, false).empty())
    sizes.slices = ranks_of(item.params);
  return sizes;
}

bool is_cached(const Case& item) {
  std::error_code error;
  return item.data.times ? fresh_cache(item.data).has_value()  // one without may be there
                         : std::filesystem::exists(cache_path(item.data), error);
}

double host_bytes(const Case& item, const CaseSizes& sizes) {
  const double here = ranks_here(item);
  const auto all = here * static_cast<double>(sizes.train.nnz + sizes.others) / sizes.slices;
  double loading = sizes.from_files || item.data.implicit ? kRatingBytes * all : 0;
  if (item.data.times) loading += (sizes.from_files ? 3 : 1) * kTimeBytes * all;
  const double ranked = needs_device(item) && ranks_of(item.params) > 1 ? here * kRanksBytes : 0;
  return (needs_device(item) ? kCudaBytes : kProgramBytes) + ranked +
         ratings_bytes(item, sizes) * (sizes.kept ? 2 : 1) +
         std::max(loading, training_bytes(item, sizes));
}

double device_bytes(const Case& item, const CaseSizes& sizes, std::optional<double> free) {
  if (!needs_device(item)) return 0;
  return most_bytes(item, &MemoryUse::device, sizes.train, evaluator_bytes(item, sizes),
                    kShare * free.value_or(0));
}

std::int64_t bytes_to_reserve(const Case& item, const CaseSizes& sizes, double free) {
  return static_cast<std::int64_t>(std::min(device_bytes(item, sizes), kShare * free));
}

double device_ratings_bytes(const ProblemShape& train) {
  return 16 * static_cast<double>(train.nnz);
}

bool leaves_room_for_ratings(const Case& item, const CaseSizes& sizes, double free) {
  return kPlanFactor * device_bytes(item, sizes) + device_ratings_bytes(sizes.train) <
         kShare * free;
}

std::optional<ProcessNeed> process_need(const Case& item, const ProblemShape& shape) {
  const auto& foreign = find_algorithm(item.algorithm).foreign;
  if (!foreign) return std::nullopt;
  ProcessNeed need = foreign->process(item.params, shape);
  const std::int64_t every = item.evaluate.every;  // if no rule ends it early
  need.bytes = need.bytes_of((item.stop.epochs + every - 1) / every);
  return need;
}

std::optional<std::string> why_no_implementation(const Case& item) {
  if (!is_built(item.algorithm)) {
    return fmt::format("{} needs CUDA; this build lacks it", item.algorithm);
  }
  if (!needs_device(item)) return std::nullopt;
  std::string why;
  if (const auto device = find_device(&why)) {
    return why_too_old(find_algorithm(item.algorithm), device->compute());
  }
  return fmt::format("{} needs a CUDA device: {}", item.algorithm, why);
}

std::optional<std::string> why_too_old(const AlgorithmInfo& info, int compute) {
  if (compute >= info.min_compute) return std::nullopt;
  return fmt::format("{} needs a device of compute capability {}; this one has {}", info.name,
                     format_compute(info.min_compute), format_compute(compute));
}

std::optional<std::string> why_not_in_memory(double least, const MemoryBound& available) {
  if (available.by.empty() || least <= static_cast<double>(available.bytes)) return std::nullopt;
  return fmt::format("needs at least {} of memory, {} are available ({}); raise the limit, {}",
                     format_bytes(least), format_bytes(static_cast<double>(available.bytes)),
                     available.by, kAskForLess);
}

void refuse_to_load(const Case& item) {
  if (item.data.implicit) return;  // what the rule leaves is not known
  const auto sizes = expected_sizes(item);
  if (!sizes) return;
  if (const auto why = why_not_in_memory(ratings_bytes(item, *sizes), memory_limit().available))
    fail(ErrorKind::memory, "{}", *why);
}

std::optional<Refusal> refuse_surely(const Case& item, const CaseSizes& sizes, double least,
                                     std::optional<double> free) {
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  if (info.supports) {
    if (const auto reason = info.supports(item.params, sizes.train))
      return Refusal{Status::skipped, *reason};
  }
  const auto process = process_need(item, sizes.train);
  if (process && process->limit_bytes > 0 && process->bytes.value_or(0) > process->limit_bytes) {
    return Refusal{
        Status::oom,
        fmt::format("its process needs {} of memory, {} are for it (memory_gb); raise that, {}",
                    format_bytes(*process->bytes), format_bytes(process->limit_bytes),
                    kAskForLess)};
  }
  if (const auto why = why_not_in_memory(least, memory_limit().available))
    return Refusal{Status::oom, *why};
  const double on_device = device_bytes(item, sizes) / kPlanFactor;
  if (!free || on_device <= *free) return std::nullopt;
  return Refusal{Status::oom,
                 fmt::format("needs at least {} on the device, {} are free; {}",
                             format_bytes(on_device), format_bytes(*free), kAskForLess)};
}

std::optional<Refusal> refuse(const Case& item, const CaseSizes& sizes, DeviceClock* device,
                              double free, double held_bytes) {
  if (device != nullptr) {
    if (const auto reason = why_too_old(find_algorithm(item.algorithm), device->compute()))
      return Refusal{Status::skipped, *reason};
  }
  const auto process = process_need(item, sizes.train);
  const double beside = process ? std::max(0.0, process->bytes.value_or(0) - held_bytes) : 0;
  return refuse_surely(item, sizes, training_bytes(item, sizes) / kPlanFactor + beside,
                       device != nullptr ? std::optional(free) : std::nullopt);
}

}  // namespace mf
