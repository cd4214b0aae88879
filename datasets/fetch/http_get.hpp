// Internal: one HTTP GET that appends to a file, through libcurl.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace mf {

struct GetResult {
  enum class Outcome {
    done,       // the file is complete
    transient,  // trying again may help; what arrived is kept
    no_range,   // the server cannot continue at this place: begin anew
    permanent,  // trying again will not help
  };
  Outcome outcome = Outcome::permanent;
  std::string cause;      // for messages, where not done
  bool replaced = false;  // the server sent the whole file although a part was asked for
};

using ProgressCall = std::function<void(std::int64_t, std::int64_t)>;

// Bytes from `offset` on are appended to the file, which holds `offset` bytes. Where the server
// sends the whole file instead, that replaces the content.
GetResult http_get(const std::string& url, const std::string& path, std::int64_t offset,
                   double stall_s, const ProgressCall& progress);

}  // namespace mf
