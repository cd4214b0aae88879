// The folder of a model, with what people ask of it; an input is its files and a history.
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>

#include "base/error.hpp"
#include "harness/evaluate/model_io.hpp"
#include "harness/model_lines.hpp"
#include "testing/fuzz/mutate.hpp"
#include "testing/fuzz/scratch.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {
namespace {

constexpr std::array<const char*, 9> kFiles = {
    "model.json",    "P.npy",        "Q.npy",        "user_bias.npy",
    "item_bias.npy", "user_ids.npy", "item_ids.npy", "seen_offsets.npy",
    "seen_items.npy"};

using Ranking = std::vector<std::pair<std::int32_t, float>>;

void check_ranking(const SavedModel& saved, const Ranking& ranking, std::size_t most) {
  expect(ranking.size() <= most, "no more items than are asked for");
  std::set<std::int32_t> seen;
  for (const auto& [item, score] : ranking) {
    expect(saved.knows_item(item), "items are those of the model");
    expect(seen.insert(item).second, "an item is recommended once");
  }
}

void use(const SavedModel& saved, const std::string& history_path) {
  for (std::size_t u = 0; u < saved.user_ids.size() && u < 8; ++u) {
    const std::int32_t user = saved.user_ids[u];
    check_ranking(saved, saved.recommend(user, 3, false), 3);
    check_ranking(saved, saved.recommend(user, 1000, true), 1000);
    for (std::size_t i = 0; i < saved.item_ids.size() && i < 8; ++i) {
      saved.predict(user, saved.item_ids[i]);
    }
    saved.predict(user, -1);
  }
  saved.predict(2147483647, -2147483647 - 1);
  constexpr std::int32_t kManyFactors = 64;  // the time to fold in grows with their cube
  if (saved.model.factors > kManyFactors) return;
  accepts([&] {
    const FoldedUser folded = saved.fold_in(read_history(history_path));
    check_ranking(saved, saved.recommend(folded, 3, false), 3);
    if (!saved.item_ids.empty()) saved.predict(folded, saved.item_ids.front());
    saved.predict(folded, -5);
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

void pairs(std::string_view input) {
  const std::string path = write_scratch("pairs.txt", input);
  std::int64_t count = 0;
  const bool are_pairs =
      accepts([&] { for_pairs(path, [&](std::int32_t, std::int32_t) { ++count; }); });
  expect(count <= static_cast<std::int64_t>(input.size()), "no pair is made up");
  const bool are_history = accepts([&] {
    for (const auto& one : read_history(path))
      expect(std::isfinite(one.value), "values are finite");
  });
  if (!are_pairs && !are_history) fail(ErrorKind::data, "neither pairs nor a history");
}

std::size_t mutate_model(std::uint8_t* data, std::size_t size, std::size_t room,
                         std::uint32_t seed) {
  return mutate_parts(data, size, room, seed, kFiles.size() + 1);
}

const Registrar model_target({"model", model, mutate_model});
const Registrar pairs_target({"pairs", pairs});

}  // namespace
}  // namespace mf::fuzz
