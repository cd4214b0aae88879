#include "algorithms/peer/messages.hpp"

#include <cmath>

#include "algorithms/peer/places.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace mf::peer {

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
  complaint.text = one_line(without_places(reader.string("message", "")).substr(0, kLongest));
  return complaint;
}

}  // namespace mf::peer
