#include "algorithms/peer/files.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "algorithms/core/foreign.hpp"
#include "base/error.hpp"
#include "base/files/npy.hpp"
#include "base/json/json_values.hpp"

namespace mf::peer {
namespace {

constexpr std::array kTraining = {"/user.npy", "/item.npy", "/value.npy", "/user_offsets.npy"};

void check_finite(const std::string& name, const std::vector<float>& values, std::int64_t width) {
  const auto wrong = [](float x) { return !std::isfinite(x); };
  const auto first = std::find_if(values.begin(), values.end(), wrong);
  if (first == values.end()) return;
  throw CaseOver(CaseOver::Why::diverged,
                 fmt::format("the peer's model is not finite: {} of {} numbers of {}, the first in "
                             "row {}",
                             std::count_if(values.begin(), values.end(), wrong), values.size(),
                             name, (first - values.begin()) / width));
}

Channel keeper_of(const Ratings& train, const std::string& python, PhaseSink* phases) {
  const PhaseScope phase(phases, "start");
  return Channel(python, "", static_cast<double>(train.bytes()));
}

}  // namespace

TrainingFiles::TrainingFiles(const std::string& python, const Ratings& train, PhaseSink* phases)
    : keeper_(keeper_of(train, python, phases)) {
  write_npy(folder() + kTraining[0], train.users());
  write_npy(folder() + kTraining[1], train.items());
  write_npy(folder() + kTraining[2], train.values());
  write_npy(folder() + kTraining[3], train.user_offsets());
  for (const char* name : kTraining) {
    const std::string path = folder() + name;
    struct stat info {};
    if (stat(path.c_str(), &info) == 0) bytes_ += info.st_size;
    chmod(path.c_str(), 0444);  // a peer can write to these shared files only on purpose
  }
  stamp_ = stamp();
}

// No process can set the time of a change (ctime).
std::string TrainingFiles::stamp() const {
  std::string all;
  for (const char* name : kTraining) {
    struct stat info {};
    lstat((folder() + name).c_str(), &info);
    all += fmt::format("{} {} {} ", info.st_ino, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
  }
  return all;
}

Model read_model(const std::string& folder, const Json& message, const ModelShape& shape) {
  // A table of rows x width, or a vector of `rows` if the width is 0.
  const auto part = [&](const char* key, std::int64_t rows, std::int64_t width) {
    const std::int64_t in_row = std::max<std::int64_t>(1, width), count = rows * in_row;
    const auto name = text_at(message, {key});
    if (!name) return AlignedVector<float>(count, 0.0F);
    const std::string path = folder + "/" + *name;
    const auto array = read_npy<float>(path, count * static_cast<std::int64_t>(sizeof(float)));
    std::vector<std::int64_t> expected = {rows};
    if (width > 0) expected.push_back(width);
    if (array.shape != expected) {
      fail_in_file(path, fmt::format("the shape {}", fmt::join(array.shape, " x ")),
                   fmt::format("{}", fmt::join(expected, " x ")));
    }
    check_finite(*name, array.values, in_row);
    return AlignedVector<float>(array.values.begin(), array.values.end());
  };
  Model model;
  static_cast<ModelShape&>(model) = shape;
  model.p = part("p", shape.n_users, shape.factors);
  model.q = part("q", shape.n_items, shape.factors);
  const double mean = number_at(message, {"mean"}).value_or(0);
  if (shape.biased()) {
    model.user_bias = part("user_bias", shape.n_users, 0);
    model.item_bias = part("item_bias", shape.n_items, 0);
    model.mean = mean;
  } else if (message.contains("user_bias") || message.contains("item_bias") || mean != 0) {
    fail(ErrorKind::data, "it sent biases or a mean with a plain model, which has none");
  }
  return model;
}

}  // namespace mf::peer
