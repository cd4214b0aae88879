#include "datasets/download.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/error.hpp"
#include "datasets/http_get.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

constexpr double kLongestPause = 30;  // seconds

std::int64_t size_of(const std::string& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(bytes);
}

bool use_library(Transport transport) {
  return transport == Transport::library ||
         (transport == Transport::automatic && have_curl_library());
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

GetResult judge_status(long status) {
  const std::string cause = fmt::format("the server answered with HTTP status {}", status);
  if (status == 416) return {GetResult::Outcome::no_range, cause};
  const bool passing = status == 408 || status == 429 || (status >= 500 && status < 600);
  return {passing ? GetResult::Outcome::transient : GetResult::Outcome::permanent, cause};
}

std::string why_no_download(Transport transport) {
  if (transport != Transport::program && have_curl_library()) return "";
  if (transport != Transport::library && have_curl_program()) return "";
  return "nothing here can download: install the program curl, or build with libcurl "
         "(its development files, such as libcurl4-openssl-dev)";
}

DownloadReport download(const std::string& url, const std::string& path,
                        const DownloadOptions& options) {
  if (const std::string why = why_no_download(options.transport); !why.empty()) {
    fail(ErrorKind::unsupported, "{}: {}", url, why);
  }
  const auto get = use_library(options.transport) ? get_with_library : get_with_program;
  DownloadReport report;
  report.resumed = size_of(path);
  std::int64_t most = report.resumed;  // bytes there were after any attempt
  int failures = 0;                    // in a row, none of which brought the file further
  for (double pause = options.backoff_s;;) {
    ++report.attempts;
    const std::int64_t offset = size_of(path);
    const GetResult result = get(url, path, offset, options.stall_s, options.progress);
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
