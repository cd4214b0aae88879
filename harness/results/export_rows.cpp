#include "harness/results/export_rows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <tuple>

#include "base/json_values.hpp"
#include "harness/results/answer.hpp"

namespace mf {
namespace {

// In the order in which they stand among the columns.
constexpr std::array<std::string_view, 6> kParameters = {"params.", "schedule.", "init.",
                                                         "stop.",   "evaluate.", "split."};
constexpr std::array<std::string_view, 4> kFindings = {"facts.", "load_parts.", "metrics.",
                                                       "phases."};

bool begins_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// The place of the column's section in a list, or the list's length.
template <std::size_t N>
std::size_t section_of(const std::array<std::string_view, N>& sections, std::string_view column) {
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&](auto start) { return begins_with(column, start); });
  return static_cast<std::size_t>(found - sections.begin());
}

// Collects cells under short names; one that is taken already stands under its whole path.
class Record {
 public:
  void add(const std::string& name, const std::string& path, const Json& value) {
    const std::string& column = taken_.insert(name).second ? name : path;
    if (value.is_object()) {
      add_flat(value, column + ".", cells_);
    } else {
      cells_.emplace_back(column, value);
    }
  }

  // The keys of an object under names that begin with `prefix`, but those of `without`.
  void add_section(const Json& object, const std::string& section, const std::string& prefix,
                   const std::set<std::string>& without = {}) {
    if (!object.is_object()) return;
    for (const auto& [key, value] : object.items()) {
      if (without.count(key) == 0) add(prefix + key, section + key, value);
    }
  }

  Cells take() { return std::move(cells_); }

 private:
  std::set<std::string> taken_;
  Cells cells_;
};

void add_header(Record& record, const Json& header) {
  const Json& algorithm = value_at(header, {"algorithm"});
  const Json& dataset = value_at(header, {"dataset"});
  record.add("algorithm", "algorithm.name", value_at(algorithm, {"name"}));
  record.add("dataset", "dataset.name", value_at(dataset, {"name"}));
  record.add_section(algorithm, "algorithm.", "", {"name"});
  record.add_section(dataset, "dataset.", "", {"name"});
  record.add_section(
      header, "", "",
      {"type", "schema_version", "algorithm", "dataset", "work_per_epoch", "environment"});
  record.add_section(value_at(header, {"work_per_epoch"}), "work_per_epoch.", "work_");
  record.add_section(value_at(header, {"environment"}), "environment.", "");
}

void add_footer(Record& record, const Json& footer) {
  record.add_section(footer, "footer.", "", {"type", "clocks"});
  record.add_section(value_at(footer, {"clocks"}), "clocks.", "clock_");
}

// Prepare, transfer and train up to this point: what a user waits for. Nothing before the footer,
// where the first two stand.
Json answer_seconds(const ResultFile& file, const Json& point) {
  const auto before = to_training_s(file.footer);
  const auto train = number_at(point, {"train_s"});
  if (!before || !train) return nullptr;
  return *before + *train;
}

}  // namespace

const std::vector<std::string>& case_columns() {
  static const std::vector<std::string> kColumns = {
      "case", "case_id", "algorithm", "dataset", "seed", "status", "stop_reason",
      // what came of it
      "epochs", "updates", "final_test_rmse", "best_test_rmse", "best_epoch", "clock_start_s",
      "clock_load_s", "clock_prepare_s", "clock_transfer_s", "clock_train_s",
      "clock_train_device_s", "clock_evaluate_s", "clock_save_s", "clock_rest_s", "clock_wall_s",
      "peak_host_bytes", "peak_device_bytes",
      // algorithm and data
      "family", "hardware", "paper", "work_updates", "work_bytes", "work_flops", "look_alike",
      "source", "source_sha256", "content_hash", "n_users", "n_items", "nnz_train", "nnz_test",
      "nnz_validation", "cold_users", "cold_items", "cold_ratings", "duplicate_pairs",
      "duplicate_policy", "scale.min", "scale.max", "scale.step",
      // the spec's questions
      "spec_name", "spec_hash", "case_hash", "baseline", "target_rmse", "target.metric",
      "target.value",
      // program and machine
      "mfbench", "git_sha", "git_dirty", "compiler", "flags", "build_type", "host", "cpu", "cores",
      "simd", "memory_bytes", "os", "gpu", "driver", "cuda_driver", "cuda", "device_memory_bytes",
      "sm_clock_hz", "power_limit_w", "sm_clock_seen_hz.min", "sm_clock_seen_hz.median",
      "sm_clock_seen_hz.max", "sm_clock_seen_hz.samples", "command_line", "started_at",
      "finished_at", "folder", "file"};
  return kColumns;
}

const std::vector<std::string>& trace_columns() {
  static const std::vector<std::string> kColumns = {
      "case",          "case_id",   "algorithm", "dataset",        "seed",       "epoch",
      "updates",       "passes",    "train_s",   "train_device_s", "answer_s",   "epoch_s",
      "evaluate_s",    "wall_s",    "test_rmse", "test_mae",       "train_rmse", "validation_rmse",
      "learning_rate", "objective", "recall_20", "recall_50",      "ndcg_100",   "map_10"};
  return kColumns;
}

std::optional<std::string> why_no_result(const ResultFile& file) {
  const Json& header = file.header;
  if (file.damage) return file.damage;
  if (!header.is_object()) return "no header";
  if (value_at(header, {"schema_version"}).is_null()) return "a header without \"schema_version\"";
  for (const char* key : {"case_id", "case_hash"}) {
    if (!text_at(header, {key})) return fmt::format("a header without \"{}\"", key);
  }
  for (const char* key : {"algorithm", "dataset"}) {
    if (!text_at(header, {key, "name"})) return fmt::format("a header without \"{}.name\"", key);
  }
  if (!value_at(header, {"algorithm", "params"}).is_object()) {
    return "a header without \"algorithm.params\"";
  }
  if (!integer_at(header, {"seed"})) return "a header without \"seed\"";
  return std::nullopt;
}

Cells case_cells(const ResultFile& file, const std::string& path, std::int64_t number) {
  const std::filesystem::path place = path;
  Record record;
  record.add("case", "case", number);
  record.add("file", "file", path);
  record.add("folder", "folder", place.parent_path().filename().string());
  if (!file.finished()) record.add("status", "status", "unfinished");
  add_header(record, file.header);
  if (file.finished()) add_footer(record, file.footer);
  return record.take();
}

Cells trace_cells(const ResultFile& file, const Json& point, std::int64_t number) {
  Record record;
  record.add("case", "case", number);
  record.add("case_id", "case_id", value_at(file.header, {"case_id"}));
  record.add("algorithm", "algorithm", value_at(file.header, {"algorithm", "name"}));
  record.add("dataset", "dataset", value_at(file.header, {"dataset", "name"}));
  record.add("seed", "seed", value_at(file.header, {"seed"}));
  record.add_section(point, "trace.", "", {"type"});
  if (!point.contains("answer_s")) record.add("answer_s", "answer_s", answer_seconds(file, point));
  return record.take();
}

bool is_parameter(const std::string& column) {
  return section_of(kParameters, column) < kParameters.size();
}

bool column_before(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& name) {
    return std::tuple(section_of(kParameters, name), section_of(kFindings, name), name);
  };
  return key(a) < key(b);
}

}  // namespace mf
