#include "harness/run/plan/preflight.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "algorithms/core/device_need.hpp"
#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/memory_advice.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "datasets/from_files.hpp"
#include "datasets/load.hpp"
#include "datasets/ratings/packed/packed_form.hpp"
#include "harness/device/device.hpp"
#include "harness/evaluate/device/device_quality.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/data/shared_ratings.hpp"
#include "harness/run/prepared.hpp"
#include "harness/run/ranks/rank_load.hpp"

namespace mf {

bool needs_train_errors(const Case& item) {
  if (is_implicit(item)) return false;
  const std::vector<Metric> named = named_metrics(item);
  const auto of_train = [](Metric one) { return one->part == MetricPart::train; };
  // Groups of users are those of the mean of all draws.
  if (is_sampler(item) && item.evaluate.user_groups > 0) return true;
  return item.evaluate.train || std::any_of(named.begin(), named.end(), of_train);
}

bool needs_device(const Case& item) {
  return find_algorithm(item.algorithm).hardware == Hardware::cuda;
}

bool has_own_process(const Case& item) { return find_algorithm(item.algorithm).foreign != nullptr; }

bool repeats_epochs(const Case& item) {
  const auto& foreign = find_algorithm(item.algorithm).foreign;
  return foreign && foreign->repeats_epochs;
}

namespace {

// For a case that no rule ends early, beside the initial model.
std::int64_t evaluated_points(const Case& item) {
  const std::int64_t every = item.evaluate.every;
  return item.stop.epochs / every + (item.stop.epochs % every != 0 ? 1 : 0);
}

MemoryNeed need_of(const Case& item, const ProblemShape& shape) {
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  return info.memory ? info.memory(item.params, shape) : MemoryNeed{};
}

double folded_share(const SplitSpec& split) {
  return split.kind == SplitSpec::Kind::users ? split.user_fraction : 0;
}

double evaluator_bytes(const Case& item, const ProblemShape& shape, std::int64_t other_ratings) {
  const std::int64_t train = needs_train_errors(item) ? shape.nnz : 0;
  const bool implicit = is_implicit(item);
  QualityShape quality;
  quality.n_users = shape.n_users;
  quality.n_items = shape.n_items;
  quality.train = shape.nnz;
  quality.held_out = other_ratings;
  quality.factors = item.params.has("factors") ? item.params.integer("factors") : 0;
  quality.folded_users =
      static_cast<std::int64_t>(folded_share(item.split) * static_cast<double>(shape.n_users));
  quality.objective = has_objective(item);
  quality.ranking = item.evaluate.rank.value_or(implicit) && !is_by_history(item);
  quality.ranks_validation = ranks_validation(item);
  const double errors =
      implicit ? 0 : device_evaluator_bytes({shape.n_users, shape.n_items, other_ratings + train});
  const double means = is_sampler(item) ? 4.0 * static_cast<double>(other_ratings + train) : 0;
  return errors + means + device_quality_bytes(quality);
}

// R as it stays there, by columns where these are asked for.
double kept_bytes(const MemoryNeed& need, const ProblemShape& shape, const DevicePlace& place) {
  const bool columns = place.has_columns || (need.beside_ratings && need.beside_ratings->columns);
  return row_ratings_bytes(shape) + (columns ? column_ratings_bytes(shape) : 0);
}

double peak_bytes(const MemoryNeed& need, const ProblemShape& shape, const DevicePlace& place,
                  double evaluator) {
  const double kept = place.keeps_ratings ? kept_bytes(need, shape, place) : 0;
  DeviceNeed own = need.device;
  if (place.keeps_ratings && need.beside_ratings) own = need.beside_ratings->need;
  if (need.trained_in && place.free_bytes) own.trained = need.trained_in(*place.free_bytes - kept);
  const double both = kept + std::max(own.prepare, own.trained + evaluator);
  const bool makes_columns = place.keeps_ratings && !place.has_columns && need.beside_ratings &&
                             need.beside_ratings->columns;
  return makes_columns ? std::max(both, making_columns_bytes(shape)) : both;
}

}  // namespace

double device_bytes(const Case& item, const ProblemShape& shape, std::int64_t other_ratings,
                    const DevicePlace& place) {
  if (!needs_device(item)) return 0;
  return peak_bytes(need_of(item, shape), shape, place,
                    evaluator_bytes(item, shape, other_ratings));
}

double least_device_bytes(const Case& item, const ProblemShape& shape, std::int64_t other_ratings,
                          const DevicePlace& place) {
  if (!needs_device(item)) return 0;
  DevicePlace unknown = place;
  unknown.free_bytes = std::nullopt;
  return device_bytes(item, shape, other_ratings, unknown) + need_of(item, shape).library_bytes;
}

std::optional<ProcessNeed> process_need(const Case& item, const ProblemShape& shape) {
  const auto& foreign = find_algorithm(item.algorithm).foreign;
  if (!foreign) return std::nullopt;
  ProcessNeed need = foreign->process(item.params, shape);
  need.bytes = need.bytes_of(evaluated_points(item));
  return need;
}

double known_bytes(const std::optional<ProcessNeed>& need) {
  return need ? need->bytes.value_or(0) : 0;
}

std::optional<std::string> why_not_in_process(const std::optional<ProcessNeed>& need) {
  if (!need || !need->bytes || need->limit_bytes <= 0 || *need->bytes <= need->limit_bytes) {
    return std::nullopt;
  }
  return fmt::format("its process needs {} of memory, {} are for it (memory_gb); raise that, {}",
                     format_bytes(*need->bytes), format_bytes(need->limit_bytes), kAskForLess);
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

std::optional<std::string> why_not_on_device(double need, std::optional<double> free) {
  if (!free || need <= *free) return std::nullopt;
  return fmt::format("needs {} on the device, {} are free; {}", format_bytes(need),
                     format_bytes(*free), kAskForLess);
}

namespace {

// For the files that are mapped to be read; those that are gone by now are not.
double bytes_of_files(const Source& source) {
  double bytes = 0;
  for (const auto& file : source.files) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file.path, error);
    if (!error) bytes += static_cast<double>(size);
  }
  return bytes;
}

double train_share(const SplitSpec& split) {
  double test = 0;
  if (split.kind == SplitSpec::Kind::holdout) test = split.test_fraction;
  if (split.kind == SplitSpec::Kind::folds) test = 1.0 / split.folds;
  if (split.kind == SplitSpec::Kind::by_time) test = 1 - split.before_cut;
  if (split.kind == SplitSpec::Kind::users) test = split.user_fraction;
  return (1 - test) * (1 - split.validation_fraction);
}

// With as many values as a table can have.
double expected_packed_bytes(const HostData& data) {
  const PackedForm form{bits_below(data.whole.n_items), bits_below(kMostTableValues)};
  return static_cast<double>(form.words(data.train_nnz)) * sizeof(std::uint64_t);
}

std::optional<std::string> first_empty_part(const Case& item, const PartSizes& sizes) {
  if (sizes.train == 0) return "training";
  const bool ranks_items = item.evaluate.rank.value_or(false);
  if (sizes.test == 0 && (ranks_items || !is_implicit(item))) {
    return is_trial(item) ? "validation" : "test";
  }
  const std::vector<Metric> named = named_metrics(item);
  const auto unseen = [](Metric one) { return one->part == MetricPart::validation; };
  if (sizes.validation == 0 && std::any_of(named.begin(), named.end(), unseen)) return "validation";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_not_evaluated(const Case& item, const PartSizes& sizes) {
  const auto part = first_empty_part(item, sizes);
  if (!part) return std::nullopt;
  return fmt::format(
      "the {} part is empty: the split {} gives it 0 of {} ratings; choose another `holdout`, "
      "`leave_out`, `folds`, `by_time`, `leave_last`, `users` or `validation`, or a larger data "
      "set{}",
      *part, item.resolved.at("split").dump(), sizes.all(),
      *part == "test" && is_implicit(item)
          ? R"(; "evaluate": {"ranking": false} does without a test part)"
          : "");
}

std::optional<std::string> why_not_in_memory(double need, const MemoryBound& available,
                                             MemoryOf what) {
  if (available.by.empty() || need <= static_cast<double>(available.bytes)) return std::nullopt;
  const bool of_ratings = what == MemoryOf::ratings;
  const char* part = of_ratings                         ? " for the ratings"
                     : what == MemoryOf::beyond_ratings ? " beyond the ratings"
                                                        : "";
  return fmt::format("needs {} of memory{}, {} are available ({}); raise the limit, {}",
                     format_bytes(need), part, format_bytes(static_cast<double>(available.bytes)),
                     available.by, of_ratings ? "use a smaller data set" : kAskForLess);
}

DataFrom source_of_data(const Case& item) {
  std::error_code error;
  const bool is_cached = item.data.times
                             ? fresh_cache(item.data).has_value()  // one without may be there
                             : std::filesystem::exists(cache_path(item.data), error);
  if (is_cached) return DataFrom::cache;
  const bool made = !item.data.like.empty() || !item.data.expand.empty();
  return made ? DataFrom::generator : DataFrom::files;
}

std::optional<HostData> expected_data(const Case& item) {
  const auto shape = expected_shape(item.data);
  if (!shape) return std::nullopt;
  HostData data;
  data.whole = {shape->n_users, shape->n_items, shape->nnz};
  data.train_nnz =
      static_cast<std::int64_t>(static_cast<double>(shape->nnz) * train_share(item.split));
  if (item.data.has_rules()) data.before_rules = data.whole;  // of which they leave all at most
  data.times = item.data.times;
  data.from = source_of_data(item);
  data.threads = hardware_threads();
  if (data.from == DataFrom::cache && why_whole(item, false).empty())
    data.slices = ranks_of(item.params);
  if (uploads_ratings(item)) data.packed_bytes = expected_packed_bytes(data) / data.slices;
  if (users_column(item) == UsersColumn::on_demand)
    data.left_out_bytes = kUserBytes * static_cast<double>(data.train_nnz) / data.slices;
  if (data.from == DataFrom::cache) return data;
  data.making_bytes = making_bytes(item.data);
  if (const auto source = source_of(item.data)) data.source_bytes = bytes_of_files(*source);
  return data;
}

void refuse_to_load(const Case& item) {
  if (item.data.has_rules()) return;  // what they leave is not known
  const MemoryBound available = memory_limit().available;
  const auto data = expected_data(item);
  if (!data) return;
  const double need = host_need(item, *data).surely;
  if (const auto why = why_not_in_memory(need, available, MemoryOf::ratings))
    fail(ErrorKind::memory, "{}", *why);
}

bool leaves_room_for_ratings(const Case& item, const ProblemShape& shape,
                             std::int64_t other_ratings, double held_bytes, double free_bytes) {
  constexpr double kShare = 0.9;  // what is left is for libraries, and for what is not counted
  // By columns, too: the case after may ask for them.
  const DevicePlace whole = {.keeps_ratings = true, .has_columns = true, .free_bytes = {}};
  const double need =
      std::max(least_device_bytes(item, shape, other_ratings, whole), making_columns_bytes(shape));
  return need - held_bytes < kShare * free_bytes;
}

DevicePlace share_device(const Case& item, const ProblemShape& shape, std::int64_t other_ratings,
                         bool wanted, SharedRatings& left, DeviceClock& device) {
  const auto held = [&] {
    if (!left.holds()) return 0.0;
    return row_ratings_bytes(shape) + (left.has_columns() ? column_ratings_bytes(shape) : 0);
  };
  auto free = static_cast<double>(device.free_bytes());
  const bool shares = wanted && leaves_room_for_ratings(item, shape, other_ratings, held(), free);
  if (!shares && left.holds()) {
    left.drop();
    free = static_cast<double>(device.free_bytes());
  }
  return {shares, left.has_columns(), free + held(), held()};
}

std::optional<Refusal> refuse(const Case& item, const ProblemShape& shape,
                              std::int64_t other_ratings, DeviceClock* device, double held_bytes,
                              std::optional<double> free_bytes) {
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  if (info.supports) {
    if (const auto reason = info.supports(item.params, shape))
      return Refusal{Status::skipped, *reason};
  }
  if (device != nullptr) {
    if (const auto reason = why_too_old(info, device->compute())) {
      return Refusal{Status::skipped, *reason};
    }
  }
  const auto process = process_need(item, shape);
  if (const auto why = why_not_in_process(process)) return Refusal{Status::oom, *why};
  const double need = need_of(item, shape).host_bytes + model_bytes(item, shape) +
                      std::max(0.0, known_bytes(process) - held_bytes);
  if (const auto why =
          why_not_in_memory(need, memory_limit().available, MemoryOf::beyond_ratings)) {
    return Refusal{Status::oom, *why};
  }
  if (device == nullptr) return std::nullopt;
  if (!free_bytes) free_bytes = static_cast<double>(device->free_bytes());
  const auto reason = why_not_on_device(least_device_bytes(item, shape, other_ratings), free_bytes);
  if (reason) return Refusal{Status::oom, *reason};
  return std::nullopt;
}

}  // namespace mf
