#include "harness/results/compare/answer.hpp"

#include "base/json/json_values.hpp"
#include "harness/results/meaning/shared_cost.hpp"

namespace mf {
namespace {

constexpr double kSteadyClock = 0.02;  // share of its highest value

}  // namespace

Answer answer_of(const ResultFile& file, const Json& point) {
  Answer answer;
  answer.train_s = number_at(point, {"train_s"}).value_or(0);
  answer.energy_j = number_at(point, {"train_energy_j"});
  if (const auto before = to_training_s(file.footer)) answer.answer_s = *before + answer.train_s;
  if (const auto before = file_to_training(file))
    answer.file_to_model_s = before->seconds + answer.train_s;
  return answer;
}

std::optional<double> to_training_s(const Json& footer) {
  const auto prepare = number_at(footer, {"clocks", "prepare_s"});
  const auto transfer = number_at(footer, {"clocks", "transfer_s"});
  if (!prepare || !transfer) return std::nullopt;
  return *prepare + *transfer +
         (shared_seconds(footer, SharedClock::prepare) +
          shared_seconds(footer, SharedClock::transfer));
}

// The first case of a run creates the context of the device on its clock `start`, and later cases
// use it, too. A library has a process of its own.
std::optional<FileToTraining> file_to_training(const ResultFile& file) {
  const Json& footer = file.footer;
  const auto measured = number_at(footer, {"file_to_model_s"});
  const auto train = number_at(footer, {"clocks", "train_s"});
  if (measured && train) return FileToTraining{*measured - *train, false};
  const auto load = number_at(footer, {"clocks", "load_s"});
  const auto to_training = to_training_s(footer);
  if (!load || !to_training) return std::nullopt;
  const bool on_device = text_at(file.header, {"algorithm", "hardware"}) == "cuda" &&
                         value_at(file.header, {"facts", "library"}).is_null();
  const double start = number_at(footer, {"clocks", "start_s"}).value_or(0) +
                       (on_device ? shared_seconds(footer, SharedClock::start) : 0);
  const double overlap = number_at(footer, {"overlap_s"}).value_or(0);
  return FileToTraining{
      start + *load - overlap + shared_seconds(footer, SharedClock::load) + *to_training, true};
}

std::optional<Answer> answer_at_end(const ResultFile& file) {
  if (file.trace.empty()) return std::nullopt;
  return answer_of(file, file.trace.back());
}

std::optional<std::size_t> place_at(const ResultFile& file, const TargetSpec& target) {
  const std::string name = target.metric.key();
  for (std::size_t i = 0; i < file.trace.size(); ++i) {
    const auto value = number_at(file.trace[i], {name.c_str()});
    if (value && target.metric.meets(*value, target.value)) return i;
  }
  return std::nullopt;
}

std::optional<Answer> answer_at(const ResultFile& file, const TargetSpec& target) {
  const auto place = place_at(file, target);
  if (!place) return std::nullopt;
  return answer_of(file, file.trace[*place]);
}

bool restarts(const Json& header) { return value_at(header, {"facts", "restarts"}) == Json(true); }

EpochTimes epoch_times_of(const ResultFile& file) {
  return {number_at(file.footer, {"first_epoch_s"}), number_at(file.footer, {"steady_epoch_s"})};
}

bool clock_moved(const Json& footer) {
  const auto low = number_at(footer, {"sm_clock_seen_hz", "min"});
  const auto high = number_at(footer, {"sm_clock_seen_hz", "max"});
  return low && high && *high - *low > kSteadyClock * *high;
}

}  // namespace mf
