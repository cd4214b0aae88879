#include "algorithms/peer/messages.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <vector>

#include "algorithms/core/foreign.hpp"
#include "base/error.hpp"
#include "base/files/npy.hpp"
#include "base/text.hpp"

namespace mf::peer {
namespace {

// A name in its folder, and nowhere else.
bool is_plain_name(std::string_view name) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  };
  return !name.empty() && name[0] != '.' && name.size() <= 100 &&
         std::all_of(name.begin(), name.end(), plain);
}

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

// rows x width, or rows where width is 0.
AlignedVector<float> read_part(const std::string& folder, const std::string& name,
                               std::int64_t rows, std::int64_t width) {
  const std::string path = folder + "/" + name;
  const std::int64_t count = rows * std::max<std::int64_t>(1, width);
  const auto array = read_npy<float>(path, count * static_cast<std::int64_t>(sizeof(float)));
  std::vector<std::int64_t> expected = {rows};
  if (width > 0) expected.push_back(width);
  if (array.shape != expected) {
    const auto text = [](const std::vector<std::int64_t>& shape) {
      std::vector<std::string> words;
      for (const auto one : shape) words.push_back(std::to_string(one));
      return join(words, " x ");
    };
    fail_in_file(path, "the shape " + text(array.shape), text(expected));
  }
  check_finite(name, array.values, std::max<std::int64_t>(1, width));
  return {array.values.begin(), array.values.end()};
}

}  // namespace

Hello read_hello(JsonReader& reader, const std::string& library) {
  constexpr std::size_t kLongestBuild = 16 << 10;
  Hello out;
  reader.integer("protocol", 0, kProtocol, kProtocol);
  reader.require("protocol");
  reader.choice("library", "", {library});
  out.version = reader.name("version").substr(0, 100);
  out.each_epoch = reader.boolean("each_epoch", true);
  out.starts_from = reader.choice("starts_from", "library", {"library", "mfbench"});
  if (const Json* seconds = reader.find("warm_up_s"); seconds && !seconds->is_null()) {
    out.warm_up_s = reader.number("warm_up_s", 0, 0, 1e9);
  }
  if (const Json* build = reader.find("build")) out.build = *build;
  if (out.build.is_null()) out.build = Json::object();
  if (!out.build.is_object() || out.build.dump().size() > kLongestBuild) {
    fail(ErrorKind::io, "$.build: expected an object of at most {} bytes", kLongestBuild);
  }
  return out;
}

double read_converted(JsonReader& reader) {
  reader.require("seconds");
  return reader.number("seconds", 0, 0, 1e9);
}

Trained read_trained(JsonReader& reader, std::int64_t until) {
  reader.require("epoch");
  reader.require("train_s");
  reader.integer("epoch", 0, until, until);
  Trained out;
  out.seconds = reader.number("train_s", 0, 0, 1e9);
  if (const Json* rmse = reader.find("rmse")) {
    out.rmse = rmse->is_null() ? std::nan("") : reader.number("rmse", 0, 0, 1e30);
  }
  return out;
}

Json read_done(JsonReader& reader) {
  Json out = Json::object();
  if (reader.find("peak_device_bytes") != nullptr) {
    out["peak_device_bytes"] = reader.integer("peak_device_bytes", 0, 0, std::int64_t{1} << 50);
  }
  return out;
}

Complaint read_complaint(JsonReader& reader) {
  constexpr std::size_t kLongest = 500;
  Complaint complaint;
  complaint.kind = reader.choice("kind", "failed", {"failed", "memory", "unsupported"});
  complaint.text = one_line(reader.string("message", "").substr(0, kLongest));
  return complaint;
}

ModelFiles read_model_files(JsonReader& reader) {
  ModelFiles files;
  for (const char* part : {"p", "q", "user_bias", "item_bias"}) {
    if (reader.find(part) == nullptr) continue;
    const std::string name = reader.name(part);
    if (!is_plain_name(name)) {
      fail(ErrorKind::data, "{}: found {}, expected the name of a file in its folder",
           reader.path(part), in_quotes(name));
    }
    files.names[part] = name;
  }
  files.mean = reader.number("mean", 0, -1e30, 1e30);
  return files;
}

Model read_model(const std::string& folder, const ModelFiles& files, const ModelShape& shape) {
  Model model;
  static_cast<ModelShape&>(model) = shape;
  const auto part = [&](const char* name, std::int64_t rows, std::int64_t width) {
    const auto found = files.names.find(name);
    if (found != files.names.end()) return read_part(folder, found->second, rows, width);
    return AlignedVector<float>(rows * std::max<std::int64_t>(1, width), 0.0F);
  };
  model.p = part("p", shape.n_users, shape.factors);
  model.q = part("q", shape.n_items, shape.factors);
  if (shape.biased()) {
    model.user_bias = part("user_bias", shape.n_users, 0);
    model.item_bias = part("item_bias", shape.n_items, 0);
    model.mean = files.mean;
  } else if (files.names.count("user_bias") + files.names.count("item_bias") > 0 ||
             files.mean != 0) {
    fail(ErrorKind::data, "it sent biases or a mean with a plain model, which has none");
  }
  return model;
}

}  // namespace mf::peer
