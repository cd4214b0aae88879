// The commands, a source each; cli.cpp declares them and their options.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_fwd.hpp"
#include "harness/experiment/spec.hpp"
#include "harness/run/run_options.hpp"
#include "harness/run/session.hpp"
#include "harness/run/show/progress.hpp"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace mf {

inline constexpr int kSomeCasesFailed = 1;  // an exit code

// cli_describe.cpp: all algorithms; one of them, or all of a library.
void list_command(bool json);
void describe_command(const std::string& name, bool json);

// doctor.cpp: "mfbench 0.1.0", then lines about the commit and the build; abilities of this machine
// and this build, in ten lines or all of them.
std::string version_text();
Json doctor_json();
std::string format_doctor(const Json& report, bool all);

// "2/8". Throws Error(usage).
Shard parse_shard(const std::string& text);

// cli_run.cpp. Says what is odd about a spec that is valid.
Spec read_and_warn(const std::string& path);
// `keys` replace the keys of data sets that are files.
void validate_command(const std::string& path, bool json, bool data, const Json& keys);
void refuse_apart(const RunOptions& options);
// Whether a plugin's crash must end only its own process, and nothing asks for one of all cases.
bool is_apart_for_plugins(const std::string& path, const RunOptions& options);
// The exit code, as of all here. `ran` gets what has run; trials that it holds already count as run
// now.
int run_command(const std::string& path, RunOptions options, ProgressMode mode,
                SessionSummary* ran = nullptr);
// The last two lines of a command: the file to open, the next command.
inline constexpr std::string_view kOpen = "open     ";
void tell_ending(const std::string& open, const std::string& next);
inline constexpr const char* kExplain = "explain the columns and marks of the table";
// The same of a run.
void tell_end_of_run(const SessionSummary& ran);
int tune_command(const std::string& path, RunOptions options, ProgressMode mode, bool json);
// On standard error: the exception being handled; the first of a list.
int tell_exception();
void tell_first(const std::vector<std::string>& lines);
// The same of an interrupt, with its exit code.
int tell_interrupted();

// cli_data.cpp: those below `mfbench data`; cli_model.cpp: `predict` and
// `recommend`; cli_plots.cpp: `plot` and `report`.
void add_data_commands(CLI::App& app);
// The entry of "datasets" that a word stands for, in which the last of duplicate ratings of a file
// counts, or an object as in a spec; and the data that an entry asks for.
Json entry_of_word(const std::string& word);
// Options of each command that reads ratings; they set keys of a data set.
void add_reading_options(CLI::App& command, Json& keys);
DatasetRequest request_of(const Json& entry, const std::string& word);
Json formats_json();  // of files of ratings
void add_model_commands(CLI::App& app);
void add_evaluate_command(CLI::App& app);  // cli_evaluate.cpp
void add_plot_commands(CLI::App& app);
// cli_race.cpp: `race`. `program` is how this one was called, for its advice on the next command.
void add_race_command(CLI::App& app, const std::string& program, RunOptions& options, int& code);

// cli_numbers.cpp: within their range. CLI11's validators name the largest double in full.
CLI::Validator whole_within(std::int64_t min,
                            std::int64_t max);  // "found 0, expected an integer ..."
CLI::Validator number_above_zero();             // finite ones only
CLI::Validator number_from_zero();

}  // namespace mf
