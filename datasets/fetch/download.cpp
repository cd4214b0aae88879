#include "datasets/fetch/download.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/error.hpp"
#include "datasets/fetch/http_get.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

constexpr double kLongestPause = 30;  // seconds

std::int64_t size_of(const std::string& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(bytes);
}

void tell(const DownloadOptions& options, const std::string& line) {
  if (options.say) options.say(line);
}

void begin_anew(DownloadReport& report) {
  ++report.restarts;
  report.resumed = 0;
}

bool is_success(const GetResult& result) { return result.outcome == GetResult::Outcome::done; }

}  // namespace

DownloadReport download(const std::string& url, const std::string& path,
                        const DownloadOptions& options) {
  DownloadReport report;
  report.resumed = size_of(path);
  std::int64_t most = report.resumed;  // bytes there were after any attempt
  int failures = 0;                    // in a row, none of which brought the file further
  for (double pause = options.backoff_s;;) {
    ++report.attempts;
    const std::int64_t offset = size_of(path);
    const GetResult result = http_get(url, path, offset, options.stall_s, options.progress);
    if (result.replaced) begin_anew(report);
    if (is_success(result)) break;
    if (result.outcome == GetResult::Outcome::no_range && offset > 0) {
      tell(options, fmt::format("{}: {}; beginning anew", url, result.cause));
      fs::remove(path);
      begin_anew(report);
      continue;
    }
    failures = size_of(path) > most ? 1 : failures + 1;
    most = std::max(most, size_of(path));
    if (result.outcome != GetResult::Outcome::transient || failures >= options.attempts) {
      fail(ErrorKind::io, "{}: {}{}", url, result.cause,
           size_of(path) > 0 ? "; run the command again to continue" : "");
    }
    tell(options, fmt::format("{}: {}; trying again in {} s", url, result.cause, pause));
    std::this_thread::sleep_for(std::chrono::duration<double>(pause));
    pause = std::min(2 * pause, kLongestPause);
  }
  report.bytes = size_of(path);
  return report;
}

}  // namespace mf
