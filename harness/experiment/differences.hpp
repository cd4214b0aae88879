// What tells the cases of a spec apart: in file names and in the run's summary.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json/json.hpp"
#include "harness/experiment/spec.hpp"

namespace mf {

// Keys of one section joined by dots ("plateau.patience"), in the order of the resolved case.
struct Setting {
  std::string section;  // params, schedule, init, stop or split
  std::string key;
  Json value;
};

struct Differences {
  std::vector<Setting> settings;  // of params, schedule, init and stop
  std::vector<Setting> split;     // without its seed and its fold, which are a repeat's
};

// For each case, in their order: its settings that have another value in another case of the same
// algorithm, and those of its split that have another in a case of the same data set. A setting
// that only some of the cases have counts too, but in a section of several kinds, where the kind
// says so.
std::vector<Differences> differences(const std::vector<Case>& cases);

// "learning_rate" where no other of `all` ends like it, else "schedule.learning_rate"; a kind is
// always "schedule.kind".
std::string short_key(const Setting& setting, const std::vector<Setting>& all);

// "reg" of "params.reg".
std::string leaf(const std::string& key);

// A text as it is, all else as JSON.
std::string setting_text(const Json& value);

// "sgd_serial factors=50 threads=2": a name in tables, with these behind it.
std::string with_settings(std::string name, const std::vector<Setting>& settings);

}  // namespace mf
