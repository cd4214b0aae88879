#include "harness/evaluate/model_io.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/error.hpp"
#include "base/files/atomic_file.hpp"
#include "base/files/held_folder.hpp"
#include "base/files/mapped_file.hpp"
#include "base/files/npy.hpp"
#include "base/log.hpp"
#include "base/threads.hpp"

namespace mf {
namespace {

// Version 2 has names, which readers of version 1 would take for integers.
constexpr int kPlainVersion = 1;
constexpr int kNamedVersion = 2;
constexpr std::int32_t kMostFactors = 16384;  // no algorithm has more

void expect_size(const std::string& path, std::int64_t found, std::int64_t expected) {
  if (found == expected) return;
  fail(ErrorKind::data, "{}: holds {} values, expected {} by model.json", path, found, expected);
}

// Rows that training never saw still have their random first values.
void write_arrays(const std::string& folder, const FactorView& f, const Ratings& train,
                  const Predictor& predictor) {
  write_npy(folder + "/P.npy", f.p, f.n_users, f.factors, f.p_stride, predictor.known_user());
  write_npy(folder + "/Q.npy", f.q, f.n_items, f.factors, f.q_stride, predictor.known_item());
  if (f.user_bias != nullptr) {
    write_npy(folder + "/user_bias.npy", f.user_bias, f.n_users, 0, f.user_bias_stride);
    write_npy(folder + "/item_bias.npy", f.item_bias, f.n_items, 0, f.item_bias_stride);
  }
  write_npy(folder + "/user_ids.npy", train.user_ids());
  write_npy(folder + "/item_ids.npy", train.item_ids());
  write_npy(folder + "/seen_offsets.npy", train.user_offsets());
  write_npy(folder + "/seen_items.npy", train.items());
}

void write_names(const std::string& path, const IdNames& names) {
  if (names.empty()) return;
  std::string text;
  for (std::int64_t row = 0; row < names.size(); ++row) text.append(names[row]) += '\n';
  write_atomically(path, text);
}

}  // namespace

void save_model(const std::string& folder, const FactorView& factors, const Ratings& train,
                const Predictor& predictor, const FoldInLoss& loss, const Json& resolved_case) {
  const bool named = !train.user_names().empty() || !train.item_names().empty();
  Json info = {{"mfbench_model", named ? kNamedVersion : kPlainVersion},
               {"kind", factors.user_bias != nullptr ? "biased" : "plain"},
               {"n_users", factors.n_users},
               {"n_items", factors.n_items},
               {"factors", factors.factors},
               {"mean", factors.mean},
               {"train_mean", predictor.train_mean()},
               {"nnz_train", train.nnz()},
               {"loss", loss.to_json()},
               {"case", resolved_case}};
  if (named) {
    info["user_names"] = !train.user_names().empty();
    info["item_names"] = !train.item_names().empty();
  }
  if (const auto& clip = predictor.clip()) info["clip"] = {{"min", clip->min}, {"max", clip->max}};
  AtomicFolder fresh(folder);
  fresh.fill([&](const std::string& path) {
    write_arrays(path, factors, train, predictor);
    write_names(path + "/user_names.txt", train.user_names());
    write_names(path + "/item_names.txt", train.item_names());
    write_atomically(path + "/model.json", info.dump(2) + "\n");
  });
  fresh.commit();
}

namespace {

// Empty for a case that does not clip, as in older folders.
std::optional<ClipRange> read_clip(JsonReader& reader) {
  const Json* json = reader.find("clip");
  if (json == nullptr) return std::nullopt;
  JsonReader inner(*json, reader.path("clip"));
  inner.require("min");
  inner.require("max");
  const ClipRange clip = {static_cast<float>(inner.number("min", 0, -1e30, 1e30)),
                          static_cast<float>(inner.number("max", 0, -1e30, 1e30))};
  if (clip.min <= clip.max) return clip;
  fail(ErrorKind::data, "{}: found {} to {}, expected a min of at most max", inner.where(),
       clip.min, clip.max);
}

// No model is without users, items or factors.
std::int32_t read_size(JsonReader& reader, const char* key, std::int32_t most) {
  reader.require(key);
  return static_cast<std::int32_t>(reader.integer(key, 1, 1, most));
}

template <class T>
std::vector<T> read_array(const std::string& path, std::int64_t size) {
  auto array = read_npy<T>(path);
  expect_size(path, std::ssize(array.values), size);
  return std::move(array.values);
}

AlignedVector<float> read_floats(const std::string& path, std::int64_t size) {
  const auto values = read_array<float>(path, size);
  const auto wrong = std::ranges::find_if_not(values, [](float x) { return std::isfinite(x); });
  if (wrong == values.end()) return AlignedVector<float>(values.begin(), values.end());
  fail(ErrorKind::data, "{}: found {} as value {}, expected finite numbers", path, *wrong,
       wrong - values.begin());
}

IdNames read_names(const std::string& path, std::int64_t count) {
  const IdNames names = of_whole_files([&] {
    const Bytes file = map_file(path, Origin::found);
    std::vector<std::string_view> lines;
    for (std::string_view rest = file.view; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      lines.push_back(rest.substr(0, end));
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
    expect_size(path, std::ssize(lines), count);
    return IdNames(lines);
  });
  const std::string wrong = names.wrong();
  if (!wrong.empty()) fail(ErrorKind::data, "{}: found {}", path, wrong);
  return names;
}

// Of the side "user" or "item", with its names if model.json says that there are any.
ModelIds read_ids(const std::string& folder, JsonReader& reader, const std::string& side,
                  std::int64_t count) {
  const std::string path = folder + "/" + side;
  ModelIds all{read_array<std::int32_t>(path + "_ids.npy", count), {}};
  const auto& ids = all.ids;
  const auto at = std::ranges::adjacent_find(ids, std::ranges::greater_equal());
  if (at != ids.end()) {
    fail(ErrorKind::data, "{}_ids.npy: found {} before {} (row {}), expected ascending ids", path,
         *at, *(at + 1), at - ids.begin());
  }
  if (!reader.boolean(side + "_names", false)) return all;
  all.names = read_names(path + "_names.txt", count);
  if (ids.front() != 0 || ids.back() != count - 1) {
    fail(ErrorKind::data, "{}_names.txt: names {} rows, but the ids beside it are {} to {}", path,
         count, ids.front(), ids.back());
  }
  return all;
}

void check_offsets(const std::vector<std::int64_t>& offsets, const std::string& path) {
  const auto falls = std::ranges::adjacent_find(offsets, std::ranges::greater());
  if (offsets.front() == 0 && falls == offsets.end()) return;
  fail(ErrorKind::data, "{}: found {}, expected numbers that begin with 0 and never fall", path,
       offsets.front() != 0
           ? fmt::format("{} at the beginning", offsets.front())
           : fmt::format("{} before {} (row {})", *falls, *(falls + 1), falls - offsets.begin()));
}

// Of users and items that the training part knew.
Predictor predictor_of(const SavedModel& saved, double train_mean, const std::string& folder) {
  auto known = std::make_shared<RatingFacts>();
  known->mean = train_mean;
  known->known_user.resize(saved.model.n_users);
  known->known_item.resize(saved.model.n_items);
  for (std::int64_t u = 0; u < saved.model.n_users; ++u) {
    known->known_user[u] = saved.seen_offsets[u + 1] > saved.seen_offsets[u] ? 1 : 0;
  }
  for (const auto item : saved.seen_items) {
    if (item < 0 || item >= saved.model.n_items) {
      fail(ErrorKind::data, "{}/seen_items.npy: found row {}, the model has {} items", folder, item,
           saved.model.n_items);
    }
    known->known_item[item] = 1;
  }
  return Predictor(std::move(known));
}

}  // namespace

SavedModel load_model(const std::string& folder) {
  const HeldFolder held(folder);
  SavedModel saved;
  const std::string header = folder + "/model.json";
  if (!is_taken(header)) {
    fail(ErrorKind::data, "{}: is missing; expected a folder that `mfbench run --save-model` wrote",
         header);
  }
  const Json info = read_json_file(header, Origin::found);
  JsonReader reader(info, header + ": $");
  const std::int64_t version = reader.integer("mfbench_model", 0, 0, 1 << 20);
  if (version != kPlainVersion && version != kNamedVersion) {
    fail(ErrorKind::data, "{}: is not an mfbench model of version {} or {}", header, kPlainVersion,
         kNamedVersion);
  }
  Model& model = saved.model;
  model.kind = kModelKinds.parse(reader.choice("kind", "plain", kModelKinds.all()), "kind");
  model.n_users = read_size(reader, "n_users", INT32_MAX);
  model.n_items = read_size(reader, "n_items", INT32_MAX);
  model.factors = read_size(reader, "factors", kMostFactors);
  model.mean = reader.number("mean", 0, -1e30, 1e30);
  const double train_mean = reader.number("train_mean", 0, -1e30, 1e30);
  const std::int64_t m = model.n_users;
  const std::int64_t n = model.n_items;
  model.p = read_floats(folder + "/P.npy", m * model.factors);
  model.q = read_floats(folder + "/Q.npy", n * model.factors);
  if (model.kind == ModelKind::biased) {
    model.user_bias = read_floats(folder + "/user_bias.npy", m);
    model.item_bias = read_floats(folder + "/item_bias.npy", n);
  }
  saved.users = read_ids(folder, reader, "user", m);
  saved.items = read_ids(folder, reader, "item", n);
  const std::string seen = folder + "/seen_";
  saved.seen_offsets = read_array<std::int64_t>(seen + "offsets.npy", m + 1);
  check_offsets(saved.seen_offsets, seen + "offsets.npy");
  saved.seen_items = read_array<std::int32_t>(seen + "items.npy", saved.seen_offsets.back());
  saved.predictor = predictor_of(saved, train_mean, folder);
  saved.predictor.set_clip(read_clip(reader));
  reader.require("loss");
  saved.loss = FoldInLoss::from_json(*reader.find("loss"), reader.path("loss"));
  return saved;
}

std::optional<std::int64_t> ModelIds::row(std::string_view id) const {
  if (!names.empty()) {
    const std::int64_t row = names.find(id);
    return row < 0 ? std::nullopt : std::optional(row);
  }
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), value);
  if (error != std::errc() || end != id.data() + id.size()) return std::nullopt;
  return row(value);
}

std::optional<std::int64_t> ModelIds::row(std::int32_t id) const {
  if (!names.empty()) return row(std::to_string(id));
  const auto at = std::ranges::lower_bound(ids, id);
  if (at == ids.end() || *at != id) return std::nullopt;
  return at - ids.begin();
}

std::string ModelIds::name(std::int64_t row) const {
  return names.empty() ? std::to_string(ids[row]) : std::string(names[row]);
}

ModelUser SavedModel::user(std::int64_t row) const {
  const FactorView view = model.view();
  const float* first = view.p + row * view.p_stride;
  return {{first, first + view.factors},
          model.user_bias.empty() ? 0 : model.user_bias[row],
          {seen_items.begin() + seen_offsets[row], seen_items.begin() + seen_offsets[row + 1]}};
}

ModelUser SavedModel::fold_in(std::vector<RowRating> history) const {
  const auto text = [&](std::int64_t row) { return id_text(items.names, items.ids, row); };
  std::erase_if(history, [&](const RowRating& one) {
    const bool unknown = predictor.known_item()[one.other] == 0;
    const bool unobserved = !unknown && loss.of_pairs() && one.value == 0;
    if (unknown) {
      warn("the model was trained on no rating of item {}; it is left out of the history",
           text(one.other));
    } else if (unobserved) {
      warn("the history has item {} with the value 0, which is not observed; it is left out",
           text(one.other));
    }
    return unknown || unobserved;
  });
  std::ranges::sort(history, {}, &RowRating::other);
  ModelUser user;
  for (const RowRating& one : history) {
    if (!user.seen.empty() && user.seen.back() == one.other) {
      fail(ErrorKind::data, "the item {} stands twice in the history", text(one.other));
    }
    user.seen.push_back(one.other);
  }
  ThreadTeam team(hardware_threads());
  FoldIn::Row row = FoldIn(model.view(), loss, team).solve(View<const RowRating>(history));
  user.factors = std::move(row.factors);
  user.bias = row.bias;
  return user;
}

float SavedModel::predict(const PredictionRule& how, const ModelUser& user,
                          std::int64_t item) const {
  const FactorView view = model.view();
  const float* row = user.seen.empty() ? nullptr : user.factors.data();
  if (!loss.implicit) return predictor.predict_row(how, view, row, user.bias, item);
  if (row == nullptr) return 0;
  return product_of_rows(row, view.q + item * view.q_stride, view.factors);
}

float SavedModel::predict(const ModelUser& user, std::int64_t item) const {
  return predict(predictor.rule(model.view()), user, item);
}

ScoredItems SavedModel::recommend(const ModelUser& user, int k, bool include_seen) const {
  std::vector<std::uint8_t> skip(items.ids.size());
  if (!include_seen) {
    for (const auto item : user.seen) skip[item] = 1;
  }
  const PredictionRule how = predictor.rule(model.view());
  PredictionRule unclipped = how;
  unclipped.clip_max = unclipped.clip_min;
  ScoredItems all;
  for (std::int64_t i = 0; i < std::ssize(skip); ++i) {
    if (skip[i] != 0) continue;
    const float score = predict(unclipped, user, i);
    // Products of large numbers may be no number, which has no order.
    all.emplace_back(i, std::isnan(score) ? -std::numeric_limits<float>::infinity() : score);
  }
  const auto count = std::min<std::int64_t>(std::ssize(all), k);
  std::partial_sort(all.begin(), all.begin() + count, all.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  all.resize(count);
  for (auto& [item, score] : all) score = predict(how, user, item);
  return all;
}

}  // namespace mf
