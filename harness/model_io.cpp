#include "harness/model_io.hpp"

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/npy.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

constexpr int kModelVersion = 1;

std::int64_t row_of(const std::vector<std::int32_t>& ids, std::int32_t id) {
  const auto it = std::lower_bound(ids.begin(), ids.end(), id);
  return it != ids.end() && *it == id ? it - ids.begin() : -1;
}

void expect_size(const std::string& path, std::size_t found, std::size_t expected) {
  if (found == expected) return;
  fail(ErrorKind::data, "{}: holds {} values, expected {} by model.json", path, found, expected);
}

void write_arrays(const std::string& folder, const FactorView& f, const Ratings& train) {
  write_npy(folder + "/P.npy", f.p, f.n_users, f.factors, f.p_stride);
  write_npy(folder + "/Q.npy", f.q, f.n_items, f.factors, f.q_stride);
  if (f.user_bias != nullptr) {
    write_npy(folder + "/user_bias.npy", f.user_bias, f.n_users, 0, f.user_bias_stride);
    write_npy(folder + "/item_bias.npy", f.item_bias, f.n_items, 0, f.item_bias_stride);
  }
  write_npy(folder + "/user_ids.npy", train.user_ids());
  write_npy(folder + "/item_ids.npy", train.item_ids());
  write_npy(folder + "/seen_offsets.npy", train.user_offsets());
  write_npy(folder + "/seen_items.npy", train.items());
}

}  // namespace

void save_model(const std::string& folder, const FactorView& factors, const Ratings& train,
                const Json& resolved_case) {
  AtomicFolder fresh(folder);
  write_arrays(fresh.path(), factors, train);
  const Json info = {{"mfbench_model", kModelVersion},
                     {"kind", factors.user_bias != nullptr ? "biased" : "plain"},
                     {"n_users", factors.n_users},
                     {"n_items", factors.n_items},
                     {"factors", factors.factors},
                     {"mean", factors.mean},
                     {"train_mean", mean_rating(train)},
                     {"nnz_train", train.nnz()},
                     {"case", resolved_case}};
  write_atomically(fresh.path() + "/model.json", info.dump(2) + "\n");
  fresh.commit();
}

SavedModel load_model(const std::string& folder) {
  SavedModel saved;
  const std::string header = folder + "/model.json";
  if (!std::filesystem::is_regular_file(header)) {
    fail(ErrorKind::data, "{}: is missing; expected a folder that `mfbench run --save-model` wrote",
         header);
  }
  saved.info = read_json_file(header);
  JsonReader reader(saved.info, header + ": $");
  if (reader.integer("mfbench_model", 0, 0, 1 << 20) != kModelVersion) {
    fail(ErrorKind::data, "{}: is no mfbench model of version {}", header, kModelVersion);
  }
  Model& model = saved.model;
  model.kind = parse_model_kind(reader.choice("kind", "plain", {"biased", "plain"}));
  model.n_users = static_cast<std::int32_t>(reader.integer("n_users", 0, 0, INT32_MAX));
  model.n_items = static_cast<std::int32_t>(reader.integer("n_items", 0, 0, INT32_MAX));
  model.factors = static_cast<std::int32_t>(reader.integer("factors", 0, 0, INT32_MAX));
  model.mean = reader.number("mean", 0, -1e30, 1e30);
  saved.train_mean = reader.number("train_mean", 0, -1e30, 1e30);
  const auto m = static_cast<std::size_t>(model.n_users);
  const auto n = static_cast<std::size_t>(model.n_items);
  const auto f = static_cast<std::size_t>(model.factors);
  const auto load = [&]<class T>(const char* name, std::size_t size, T*) {
    auto array = read_npy<T>(folder + "/" + name);
    expect_size(folder + "/" + name, array.values.size(), size);
    return array.values;
  };
  const auto floats = [&](const char* name, std::size_t size) {
    const auto values = load(name, size, static_cast<float*>(nullptr));
    return AlignedVector<float>(values.begin(), values.end());
  };
  model.p = floats("P.npy", m * f);
  model.q = floats("Q.npy", n * f);
  if (model.kind == ModelKind::biased) {
    model.user_bias = floats("user_bias.npy", m);
    model.item_bias = floats("item_bias.npy", n);
  }
  saved.user_ids = load("user_ids.npy", m, static_cast<std::int32_t*>(nullptr));
  saved.item_ids = load("item_ids.npy", n, static_cast<std::int32_t*>(nullptr));
  saved.seen_offsets = load("seen_offsets.npy", m + 1, static_cast<std::int64_t*>(nullptr));
  saved.seen_items = load("seen_items.npy", static_cast<std::size_t>(saved.seen_offsets.back()),
                          static_cast<std::int32_t*>(nullptr));
  saved.item_seen.assign(n, 0);
  for (const auto item : saved.seen_items) {
    if (item < 0 || item >= model.n_items) {
      fail(ErrorKind::data, "{}/seen_items.npy: found row {}, the model has {} items", folder, item,
           n);
    }
    saved.item_seen[static_cast<std::size_t>(item)] = 1;
  }
  return saved;
}

float SavedModel::score(std::int64_t user, std::int64_t item) const {
  const auto u = static_cast<std::size_t>(user);
  const auto i = static_cast<std::size_t>(item);
  const bool user_known = user >= 0 && seen_offsets[u + 1] > seen_offsets[u];
  const bool item_known = item >= 0 && item_seen[i] != 0;
  const bool biased = model.kind == ModelKind::biased;
  if (!biased && !(user_known && item_known)) return static_cast<float>(train_mean);
  float value = biased ? static_cast<float>(model.mean) : 0.0F;
  if (biased && user_known) value += model.user_bias[u];
  if (biased && item_known) value += model.item_bias[i];
  if (!user_known || !item_known) return value;
  const auto f = static_cast<std::size_t>(model.factors);
  for (std::size_t k = 0; k < f; ++k) value += model.p[u * f + k] * model.q[i * f + k];
  return value;
}

float SavedModel::predict(std::int32_t user_id, std::int32_t item_id) const {
  return score(row_of(user_ids, user_id), row_of(item_ids, item_id));
}

std::vector<std::pair<std::int32_t, float>> SavedModel::recommend(std::int32_t user_id, int k,
                                                                  bool include_seen) const {
  const std::int64_t user = row_of(user_ids, user_id);
  if (user < 0) {
    fail(ErrorKind::data, "the model knows no user {}; its {} users have ids {} to {}", user_id,
         user_ids.size(), user_ids.empty() ? 0 : user_ids.front(),
         user_ids.empty() ? 0 : user_ids.back());
  }
  const auto u = static_cast<std::size_t>(user);
  std::vector<std::uint8_t> skip(item_ids.size());
  if (!include_seen) {
    for (auto at = seen_offsets[u]; at < seen_offsets[u + 1]; ++at) {
      skip[static_cast<std::size_t>(seen_items[static_cast<std::size_t>(at)])] = 1;
    }
  }
  std::vector<std::pair<std::int32_t, float>> all;
  for (std::size_t i = 0; i < item_ids.size(); ++i) {
    if (skip[i] == 0) all.emplace_back(item_ids[i], score(user, static_cast<std::int64_t>(i)));
  }
  const auto best = std::min(all.size(), static_cast<std::size_t>(k));
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(best), all.end(),
                    [](const auto& a, const auto& b) {
                      return a.second != b.second ? a.second > b.second : a.first < b.first;
                    });
  all.resize(best);
  return all;
}

}  // namespace mf
