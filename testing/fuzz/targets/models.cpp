// The folder of a model, with what people ask of it; an input is its files and a history.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>

#include "base/error.hpp"
#include "harness/cli_model.hpp"
#include "harness/evaluate/model_io.hpp"
#include "testing/fuzz/mutate.hpp"
#include "testing/fuzz/scratch.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {
namespace {

constexpr std::array<const char*, 11> kFiles = {
    "model.json",     "P.npy",          "Q.npy",         "user_bias.npy",
    "item_bias.npy",  "user_ids.npy",   "item_ids.npy",  "seen_offsets.npy",
    "seen_items.npy", "user_names.txt", "item_names.txt"};

void check_ranking(const SavedModel& saved, const ScoredItems& ranking, std::size_t most) {
  expect(ranking.size() <= most, "no more items than are asked for");
  std::set<std::int64_t> seen;
  for (const auto& [item, score] : ranking) {
    expect(item >= 0 && item < saved.model.n_items, "items are those of the model");
    expect(seen.insert(item).second, "an item is recommended once");
  }
}

void use(const SavedModel& saved, const std::string& history_path) {
  for (std::int64_t u = 0; u < std::min<std::int64_t>(saved.model.n_users, 8); ++u) {
    const ModelUser user = saved.user(u);
    check_ranking(saved, saved.recommend(user, 3, false), 3);
    check_ranking(saved, saved.recommend(user, 1000, true), 1000);
    for (std::int64_t i = 0; i < std::min<std::int64_t>(saved.model.n_items, 8); ++i) {
      saved.predict(user, i);
    }
  }
  for (std::int64_t i = 0; i < std::min<std::int64_t>(saved.model.n_items, 8); ++i) {
    expect(saved.items.row(saved.items.name(i)) == i, "an item is found by its name");
  }
  saved.users.row("alice");
  constexpr std::int32_t kManyFactors = 64;  // the time to fold in grows with their cube
  if (saved.model.factors > kManyFactors) return;
  accepts([&] {
    const ModelUser folded = saved.fold_in(read_history(history_path, saved));
    check_ranking(saved, saved.recommend(folded, 3, false), 3);
    saved.predict(folded, 0);
  });
}

void model(std::string_view input) {
  const auto parts = parts_of(input, kFiles.size() + 1);
  const std::string folder = scratch() / "model";
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    write_scratch(std::string("model/") + kFiles[i], parts[i]);
  }
  use(load_model(folder), write_scratch("history.txt", parts.back()));
}

// As much of a model as reading lines needs.
SavedModel known(bool named) {
  SavedModel model;
  constexpr std::array<std::string_view, 3> kNames = {"alice", "bob", "ein Name"};
  model.users.ids = model.items.ids = {0, 1, 2};
  if (named) model.users.names = model.items.names = IdNames(kNames);
  return model;
}

bool read_lines(const std::string& path, const SavedModel& saved, std::size_t most) {
  std::size_t count = 0;
  const auto add = [&](std::int64_t, std::int64_t) { ++count; };
  const bool are_pairs = accepts([&] { for_pairs(path, saved, add); });
  expect(count <= most, "no pair is made up");
  const bool are_history = accepts([&] {
    for (const auto& one : read_history(path, saved)) {
      expect(std::isfinite(one.value), "values are finite");
    }
  });
  return are_pairs || are_history;
}

void pairs(std::string_view input) {
  static const SavedModel plain = known(false);
  static const SavedModel named = known(true);
  const std::string path = write_scratch("pairs.txt", input);
  const bool by_numbers = read_lines(path, plain, input.size());
  const bool by_names = read_lines(path, named, input.size());
  if (!by_numbers && !by_names) fail(ErrorKind::data, "neither pairs nor a history");
}

const Registrar model_target({"model", model, kFiles.size() + 1});
const Registrar pairs_target({"pairs", pairs});

}  // namespace
}  // namespace mf::fuzz
