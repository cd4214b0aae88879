#include "harness/results/files/fields.hpp"

#include <fmt/core.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json.hpp"
#include "harness/spec/metric.hpp"

namespace mf {
namespace {

// Sections of the lines, and what their keys begin with in tables.
constexpr auto kSections =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"algorithm.", ""},
                                                                  {"dataset.", ""},
                                                                  {"environment.", ""},
                                                                  {"work_per_epoch.", "work_"},
                                                                  {"clocks.", "clock_"}});

constexpr auto kUnits =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"_per_s", "1/s"},
                                                                  {"_s", "s"},
                                                                  {"_bytes", "bytes"},
                                                                  {"_hz", "Hz"},
                                                                  {"_w", "W"},
                                                                  {"_j", "J"},
                                                                  {"_c", "degrees Celsius"},
                                                                  {"_rmse", "of the ratings"},
                                                                  {"_mae", "of the ratings"}});

// Of a section that is none, what stands in its place.
const Json* find_path(const Json& line, std::string_view path) {
  const auto dot = path.find('.');
  if (!line.is_object()) return &line;
  const auto at = line.find(std::string(path.substr(0, dot)));
  if (at == line.end()) return nullptr;
  return dot == std::string_view::npos ? &*at : find_path(*at, path.substr(dot + 1));
}

bool fits_type(const Json& value, FieldType type) {
  switch (type) {
    case FieldType::text:
      return value.is_string();
    case FieldType::whole:
      return value.is_number_integer();
    case FieldType::number:
      return value.is_number();
    case FieldType::truth:
      return value.is_boolean();
    case FieldType::list:
      return value.is_array();
    case FieldType::object:
      return value.is_object();
  }
  return false;
}

// What is absent or null is unknown, or says nothing of this case.
std::span<const ResultField> own_fields() {
  using enum FieldOf;
  using enum FieldType;
  static constexpr auto kFields = std::to_array<ResultField>({
      {header, "schema_version", whole, "1. Readers refuse what they do not know"},
      {header, "case_id", text, "name of the case and of its file"},
      {header, "algorithm.name", text, ""},
      {header, "dataset.name", text, "its label, the same in case ids, tables and figures"},
      {header, "seed", whole, "the repeat"},
      {footer, "status", text,
       "completed, diverged, oom, timeout, skipped, error or interrupted; in tables also "
       "unfinished "
       "(no footer yet) and missing (listed in spec.json, not begun)"},
      {footer, "stop_reason", text,
       "a sentence: which rule ended the run, or what failed. Overfitting ends as completed; the "
       "reason then begins with \"overfits\""},
      // What came of it.
      {footer, "epochs", whole, "done"},
      {footer, "updates", whole, "done"},
      {footer, "final_test_rmse", number, "null for implicit feedback"},
      {footer, "best_test_rmse", number, "null for implicit feedback"},
      {footer, "final_validation_rmse", number, "of a trial, instead of that of the test part"},
      {footer, "best_validation_rmse", number, "of a trial, instead of that of the test part"},
      {footer, "best_epoch", whole,
       "of the best RMSE; for implicit feedback of the best NDCG@100, or of the objective where "
       "nothing is ranked"},
      {footer, "metrics", object,
       "{\"ndcg_100\": {\"final\", \"best\", \"best_epoch\"}, ...}: the other metrics that were "
       "computed; absent where none was"},
      {footer, "trivial_error", number,
       "of a model that has learned nothing: the RMSE on the test part of predicting the mean of "
       "the "
       "training part; of implicit feedback the objective of P = Q = 0"},
      {footer, "clocks.start_s", number, "the device and what is made once a run"},
      {footer, "clocks.load_s", number, ""},
      {footer, "clocks.prepare_s", number, ""},
      {footer, "clocks.transfer_s", number, ""},
      {footer, "clocks.train_s", number, ""},
      {footer, "clocks.train_device_s", number, "lies in train_s; null on the CPU"},
      {footer, "clocks.evaluate_s", number, ""},
      {footer, "clocks.save_s", number, ""},
      {footer, "clocks.rest_s", number,
       "wall_s less all the others but train_device_s; of a peer what it trained again, and its "
       "messages"},
      {footer, "clocks.wall_s", number, ""},
      {of_case, "to_training_s", number,
       "what comes before training: prepare and transfer, with what an earlier case of the run had "
       "done of them (shared)"},
      {footer, "first_epoch_s", number,
       "the first epoch by itself. Null where "
       "it was not timed by itself, and of a peer that restarts"},
      {footer, "steady_epoch_s", number,
       "median of the other epochs, one of a group counting with the mean of its group. Null with "
       "fewer than two groups, and of a peer that restarts"},
      {of_case, "train_to_target_s", number,
       "training clock at the first evaluated point at the target of the case; null where it is "
       "missed. Nothing is interpolated"},
      {of_case, "answer_to_target_s", number, "to_training_s with the training clock there"},
      {of_case, "energy_to_target_j", number, "train_energy_j there"},
      {of_case, "epoch_at_target", whole, "epoch there"},
      {of_case, "epoch_before_target", whole, "of the evaluated point before it"},
      {footer, "train_energy_j", number,
       "that the device, of several all devices, took while the training clock ran; null on the "
       "CPU "
       "and without NVML"},
      {footer, "train_energy_of_ranks_j", list,
       "of a case of several devices: what each took, by rank; null where its driver does not say"},
      {footer, "peak_host_bytes", whole,
       "VmHWM from the begin of the case on: files that are mapped count"},
      {footer, "peak_device_bytes", whole, "null on the CPU"},
      {footer, "planned_host_bytes", whole,
       "what was expected before the case was prepared, as mfbench plan has it"},
      {footer, "planned_device_bytes", whole, "the same of the device"},
      // Algorithm and data.
      {header, "algorithm.family", text, ""},
      {header, "algorithm.method", text, "what an update is: sgd, als or ccd"},
      {header, "algorithm.hardware", text, "cuda or cpu"},
      {header, "algorithm.paper", text, ""},
      {header, "algorithm.params", object, "every parameter, resolved"},
      {header, "schedule", object, "of the learning rate, resolved"},
      {header, "init", object, "of the factors, resolved"},
      {header, "stop", object, "resolved"},
      {header, "evaluate", object, "resolved"},
      {header, "dataset.split", object, ""},
      {header, "work_per_epoch.updates", number, "compulsory, from the algorithm"},
      {header, "work_per_epoch.bytes", number, "compulsory, from the algorithm"},
      {header, "work_per_epoch.flops", number, "compulsory, from the algorithm"},
      {header, "dataset.look_alike", truth, "synthetic, made to resemble real ratings"},
      {header, "dataset.source", text, ""},
      {header, "dataset.source_sha256", text,
       "of the uncompressed files; sha256-tree16m: before it marks that of a large file of one's "
       "own, made of pieces"},
      {header, "dataset.content_hash", text, "null, as all that follows, where loading failed"},
      {header, "dataset.n_users", whole, ""},
      {header, "dataset.n_items", whole, ""},
      {header, "dataset.nnz_train", whole, "ratings of the training part"},
      {header, "dataset.nnz_test", whole, ""},
      {header, "dataset.nnz_validation", whole, ""},
      {header, "dataset.nnz_fold_in", whole, "with a split by users: ratings of the histories"},
      {header, "dataset.cold_users", whole, "in the test part, not in the training part"},
      {header, "dataset.cold_items", whole, ""},
      {header, "dataset.cold_ratings", whole, ""},
      {header, "dataset.duplicate_pairs", whole, ""},
      {header, "dataset.duplicate_policy", text, ""},
      {header, "dataset.scale", object, "{\"min\", \"max\", \"step\"} of the ratings"},
      {header, "dataset.implicit", object,
       "with a rule for implicit feedback: {\"min_rating\", \"value\", \"ratings_dropped\", "
       "\"users_dropped\", \"items_dropped\"}; all sizes are those after it"},
      {header, "loss", object,
       "of implicit feedback: {\"kind\", \"alpha\", \"reg\", \"reg_exponent\"}, and "
       "\"others_count\": "
       "false where rows of the other side do not count in a row's regularizer"},
      {header, "ranking", object,
       "where items are ranked: {\"users\", \"users_with_held_out\", \"folded_in_users\", "
       "\"sample_seed\", \"metrics\", \"excluded\", \"ties\"}; users are those the means are over"},
      {header, "facts", object,
       "what the algorithm found out about the prepared problem (idle lanes, workers; writes_made "
       "of "
       "sgd_tiled, the share of the updates that write their item's row); of a peer its library, "
       "version, build, packages, starts_from, restarts, evaluated_by, network, network_why, "
       "data_in_memory, data_bytes, convert_s and memory_limit_bytes"},
      // The spec's questions.
      {header, "spec_name", text, ""},
      {header, "spec_hash", text, ""},
      {header, "case_hash", text, "what a case is known by"},
      {header, "baseline", text,
       "what speed-ups are measured against; in tables as the spec.json of the folder has it now"},
      {header, "target_rmse", number, "of the spec; in tables as for the baseline"},
      {header, "target", object,
       "{\"metric\", \"value\"} of the spec; in tables that of target_rmse where it names none"},
      {header, "tuned", object,
       "where the parameters were searched: {\"study\", \"trial\", \"values\", \"metric\", "
       "\"score\", "
       "\"epochs\", \"trials\", \"runs\", \"trials_s\", \"out_of_budget\", \"split_seed\", "
       "\"edges\", "
       "\"search\"}: the trial whose values these are, its score on the validation part, how many "
       "trials began, their answer times together, whether the budget ended them, the parameters "
       "whose value lies at an end of its range, and the tune of the spec"},
      {header, "trial", object,
       "of a trial, which is no case: {\"study\", \"number\", \"epochs\", \"values\", "
       "\"judged_by\"}; what it says of quality is of the validation part"},
      {header, "profile", object,
       "{\"warmup\", \"epochs\"} of a run with --profile, whose times are no results"},
      // Program and machine.
      {header, "environment.mfbench", text, "version of the program"},
      {header, "environment.git_sha", text, ""},
      {header, "environment.git_dirty", truth, ""},
      {header, "environment.compiler", text, ""},
      {header, "environment.flags", text, ""},
      {header, "environment.build_type", text, ""},
      {header, "environment.host", text, ""},
      {header, "environment.cpu", text, ""},
      {header, "environment.cores", whole, ""},
      {header, "environment.simd", text, ""},
      {header, "environment.memory_bytes", whole, ""},
      {header, "environment.os", text, ""},
      {header, "environment.gpu", text, "null, as all of a GPU, without one"},
      {header, "environment.driver", text, "its version; null without NVML"},
      {header, "environment.cuda_driver", text, "the CUDA version that it supports"},
      {header, "environment.cuda", text, "the CUDA version of the build"},
      {header, "environment.device_memory_bytes", whole, ""},
      {header, "environment.sm_clock_hz", number, "the nominal maximum"},
      {header, "environment.power_limit_w", number, "the enforced limit; null without NVML"},
      {header, "environment.command_line", text, ""},
      {header, "environment.started_at", text, "ISO 8601, UTC"},
      {footer, "finished_at", text, "ISO 8601, UTC"},
      {header, "placement", object,
       "{\"pin\", \"memory\", \"topology\", \"cpus\"}: what --pin asked for, where memory goes, "
       "whose "
       "topology was used, and the CPUs that each thread may run on, as a list such as 0-3,8 each, "
       "one where it is the same for all"},
      {header, "rank_data", object,
       "of a case of several processes: {\"held\", \"why\", \"read\", \"evaluated_by\"}: whether "
       "each "
       "holds its share of the ratings or the whole, and why; the same of what each read; who "
       "evaluates"},
      {footer, "sm_clock_seen_hz", object,
       "{\"min\", \"median\", \"max\", \"samples\", \"in_epochs\"}: in_epochs of the samples were "
       "taken while epochs ran, every 20 ms, the others right after the group before an "
       "evaluation"},
      {of_case, "clock_moved", truth, "whether that clock moved by more than 2 % of its maximum"},
      {footer, "power_seen_w", object, "the same of the board's power"},
      {footer, "temperature_seen_c", object, "the same of the GPU's temperature"},
      {footer, "contended", truth,
       "whether other programs may be in the times of the case, by the rule of "
       "docs/methodology.md; "
       "null where nobody knows"},
      {footer, "contended_by", list, "the reasons in words"},
      {footer, "host_contended", truth,
       "the same of the host's clocks beside a device; null on the CPU"},
      {footer, "host_contended_by", list, "the reasons in words"},
      {footer, "host_load", object,
       "what else the machine did: {\"machine_cpus\", \"usable_cpus\", \"threads\", \"prepare\", "
       "\"train\"}; docs/results.md has the keys of the last two"},
      {footer, "device_load", object,
       "of a case on a device: {\"other_processes\", \"other_memory_bytes\", \"other_sm_share\", "
       "\"slowdown_readings\", \"slowdowns\"}: others that compute on it when training ends, their "
       "memory and their share of the SMs' time; and of the readings within epochs the share that "
       "gave each of NVML's reasons for a lower clock"},
      {of_case, "folder", text, "last part of the folder's path"},
      {of_case, "file", text,
       "path of the file; of a packed case, of the one that it was packed from"},
      // Parts.
      {footer, "shared", object,
       "seconds of what this case did not have to do because an earlier case of the run had, by "
       "the "
       "clock it was on then: {\"start\": {...}, \"load\": {...}, \"prepare\": {...}, "
       "\"transfer\": "
       "{...}}; {} for the first case"},
      {footer, "load_parts", object,
       "parts of load_s: {\"read_s\", \"matrix_s\", \"hash_s\", \"cache_s\", \"split_s\"}; 0 where "
       "a "
       "case shares what the one before loaded"},
      {footer, "phases", object,
       "{\"hermitian\": {\"seconds_s\", \"count\", \"device_s\"}, ...}; device_s, by CUDA events, "
       "for "
       "the epochs of a device and the phases in them only"},
      {footer, "user_groups", list,
       "where the spec asks for it, by the last model: {\"first_user\", \"last_user\", "
       "\"test_rmse\", \"test_count\", \"train_rmse\", \"train_count\"} each; dense user indices, "
       "both included"},
      {footer, "exchanged", object,
       "of a case of several devices: {\"seconds_s\", \"count\", \"bytes_sent\", "
       "\"bytes_received\"} of rank 0's exchanges within epochs"},
      {footer, "ranks", list,
       "of a case of several processes: for each but rank 0 {\"rank\", \"machine\", \"threads\", "
       "\"facts\", \"clocks\", \"phases\", \"train_use\", \"peak_host_bytes\"}, on devices also "
       "\"exchanged\" and \"device\""},
      {footer, "peer", object,
       "of a peer: {\"ended\", \"calls\", \"worked_s\", \"exchange_s\", \"cpu_s\", \"peak_bytes\", "
       "\"planned_bytes\", \"peak_device_bytes\"}: how it ended, requests to train, training with "
       "what was done again, the rest of their time, and memory of its processes"},
      // A line an evaluated epoch, the first at epoch 0: the initial model.
      {trace, "epoch", whole, "so far"},
      {trace, "updates", whole, "so far"},
      {trace, "passes", number, "so far: updates / nnz_train"},
      {of_point, "iterations", number, "so far: updates / n_users"},
      {trace, "train_s", number,
       "training clock so far: the sum of run_epochs by the host, the device synchronised at the "
       "end"},
      {trace, "train_device_s", number,
       "the same by CUDA events on the algorithm's stream; null on the CPU"},
      {of_point, "answer_s", number,
       "to_training_s + train_s: what a user waits for; null before the footer"},
      {trace, "train_energy_j", number, "so far; as of the footer"},
      {of_point, "updates_per_s", number, "updates / train_s"},
      {trace, "epoch_s", number,
       "an epoch's share of train_s: the last on the CPU, the mean of the last group on a device; "
       "of "
       "a peer that restarts, the mean of the run of that point"},
      {trace, "evaluate_s", number, "so far"},
      {trace, "wall_s", number, "since the start of the case"},
      {trace, "learning_rate", number, "used in this epoch; null at epoch 0"},
      {trace, "evaluated_by", text,
       "program: the RMSE is what a program says of itself; absent elsewhere"},
  });
  return kFields;
}

}  // namespace

// Metrics are fields of trace points; a ranking metric of another k than every ranked case has
// stands behind them.
std::span<const ResultField> result_fields() {
  static const auto kFields = [] {
    static std::vector<std::pair<std::string, std::string>> words;  // that the fields view
    for (const Metric metric : usual_metrics()) words.emplace_back(metric.key(), metric.title());
    const auto own = own_fields();
    std::vector<ResultField> all(own.begin(), own.end());
    for (const auto& [key, title] : words) {
      all.push_back({FieldOf::trace, key, FieldType::number, title});
    }
    return all;
  }();
  return kFields;
}

std::string column_of(std::string_view path) {
  if (path == "algorithm.name" || path == "dataset.name") {
    return std::string(path.substr(0, path.find('.')));
  }
  for (const auto& [section, prefix] : kSections) {
    if (path.starts_with(section)) {
      return std::string(prefix) + std::string(path.substr(section.size()));
    }
  }
  return std::string(path);
}

std::string ResultField::column() const { return column_of(path); }

std::string_view ResultField::unit() const {
  for (const auto& [end, unit] : kUnits) {
    if (path.ends_with(end)) return unit;
  }
  return "";
}

std::optional<std::string> wrong_type_in(const Json& line, FieldOf of) {
  for (const ResultField& field : result_fields()) {
    if (field.of != of) continue;
    const Json* value = find_path(line, field.path);
    if (value == nullptr || value->is_null() || fits_type(*value, field.type)) continue;
    return fmt::format("{}: found {}, expected {}", field.path, describe(*value),
                       kFieldTypes.of(field.type));
  }
  return std::nullopt;
}

Json result_fields_json() {
  Json all = Json::array();
  for (const ResultField& field : result_fields()) {
    all.push_back({{"name", field.path},
                   {"column", field.column()},
                   {"of", kFieldOf.of(field.of)},
                   {"type", kFieldTypes.of(field.type)},
                   {"unit", field.unit()},
                   {"help", field.help}});
  }
  return all;
}

}  // namespace mf
