// Downloads one file over HTTP(S), resumably.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace mf {

struct DownloadOptions {
  // On errors that may pass (connection, timeout, status 408, 429, 5xx): attempts in a row that
  // bring the file no further.
  int attempts = 5;
  double backoff_s = 1.0;  // before the second attempt; doubled for each further one
  double stall_s = 60;     // no byte for so long is an error that may pass
  // Bytes so far and in all (0 where unknown), now and then.
  std::function<void(std::int64_t, std::int64_t)> progress;
  std::function<void(const std::string&)> say;  // one line on a retry or a restart; may be empty
};

struct DownloadReport {
  std::int64_t bytes = 0;    // size of the file
  std::int64_t resumed = 0;  // of these, bytes that were there before
  int attempts = 0;
  int restarts = 0;  // times the download began anew: the server does not serve ranges
};

// Fetches `url` into `path`, which is created, or continued where it exists. Throws Error(io)
// naming the URL and the cause (an HTTP status, a connection). What has arrived stays in `path` for
// the next call.
DownloadReport download(const std::string& url, const std::string& path,
                        const DownloadOptions& options);

}  // namespace mf
