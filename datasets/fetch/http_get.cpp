// HTTP through libcurl.
#include <curl/curl.h>
#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "base/error.hpp"
#include "base/files.hpp"
#include "datasets/fetch/http_get.hpp"

namespace mf {
namespace {

// Where the body goes. Which place that is, the status and the header Content-Range say.
struct Body {
  CURL* curl = nullptr;
  FileHandle file;
  std::int64_t offset = 0;        // asked for
  std::int64_t range_start = -1;  // Content-Range of the answer
  std::int64_t written = 0;
  std::int64_t base = 0;  // bytes before what is written now
  bool placed = false;
  bool wrong_range = false;
  std::string write_error;
  const ProgressCall* progress = nullptr;
};

long status_of(CURL* curl) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

std::size_t on_header(char* text, std::size_t, std::size_t count, void* to) {
  auto& body = *static_cast<Body*>(to);
  constexpr char name[] = "content-range: bytes ";
  constexpr std::size_t length = sizeof name - 1;
  if (count > length && strncasecmp(text, name, length) == 0) {
    body.range_start =
        std::strtoll(std::string(text + length, count - length).c_str(), nullptr, 10);
  }
  return count;
}

// Decides at the first byte where the body belongs; false where it does not belong here at all.
bool place(Body& body) {
  if (body.placed) return true;
  const bool partial = status_of(body.curl) == 206;
  if (partial && body.range_start != body.offset) {
    body.wrong_range = true;
    return false;
  }
  body.base = partial ? body.offset : 0;
  // The whole file comes although a part was asked for: what is there makes way.
  if (!partial && ::ftruncate(body.file.fd(), 0) != 0) body.write_error = last_cause();
  if (::lseek(body.file.fd(), body.base, SEEK_SET) < 0) body.write_error = last_cause();
  body.placed = true;
  return body.write_error.empty();
}

std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* to) {
  auto& body = *static_cast<Body*>(to);
  const long status = status_of(body.curl);
  if (status != 200 && status != 206) return count;  // the page of an error is of no interest
  if (!place(body)) return 0;
  if (!write_all(body.file, std::string_view(bytes, count))) {
    body.write_error = last_cause();
    return 0;
  }
  body.written += static_cast<std::int64_t>(count);
  return count;
}

int on_progress(void* from, curl_off_t total, curl_off_t, curl_off_t, curl_off_t) {
  const auto& body = *static_cast<Body*>(from);
  if (body.placed && *body.progress) {
    (*body.progress)(body.base + body.written, total > 0 ? body.base + total : 0);
  }
  return 0;
}

bool passes(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    default:
      return false;
  }
}

GetResult judge_status(long status) {
  const std::string cause = fmt::format("the server answered with HTTP status {}", status);
  if (status == 416) return {GetResult::Outcome::no_range, cause};
  const bool passing = status == 408 || status == 429 || (status >= 500 && status < 600);
  return {passing ? GetResult::Outcome::transient : GetResult::Outcome::permanent, cause};
}

GetResult judge(Body& body, CURLcode code, const std::string& path, const char* detail) {
  const long status = status_of(body.curl);
  const bool success = code == CURLE_OK && (status == 200 || status == 206);
  if (success) place(body);  // an answer without content never reaches on_body
  if (!body.write_error.empty()) {
    return {GetResult::Outcome::permanent, fmt::format("{}: {}", path, body.write_error)};
  }
  if (body.wrong_range) {
    return {GetResult::Outcome::no_range, "the server answered with another range"};
  }
  if (success) return {GetResult::Outcome::done, ""};
  if (code == CURLE_OK) return judge_status(status);
  const std::string cause = *detail != '\0' ? detail : curl_easy_strerror(code);
  return {passes(code) ? GetResult::Outcome::transient : GetResult::Outcome::permanent, cause};
}

void set_options(CURL* curl, const std::string& url, double stall_s) {
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "mfbench");
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 30L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(stall_s)));
}

}  // namespace

GetResult http_get(const std::string& url, const std::string& path, std::int64_t offset,
                   double stall_s, const ProgressCall& progress) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(), curl_easy_cleanup);
  if (curl == nullptr) return {GetResult::Outcome::permanent, "libcurl cannot be initialised"};

  Body body;
  body.curl = curl.get();
  body.offset = offset;
  body.progress = &progress;
  body.file = FileHandle(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!body.file) {
    return {GetResult::Outcome::permanent, fmt::format("{}: {}", path, last_cause())};
  }

  std::array<char, CURL_ERROR_SIZE> detail{};
  set_options(curl.get(), url, stall_s);
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, detail.data());
  curl_easy_setopt(curl.get(), CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(curl.get(), CURLOPT_HEADERDATA, &body);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &body);
  // A header of our own rather than CURLOPT_RESUME_FROM: with that, libcurl gives up on a server
  // that answers with the whole file, which here is as good.
  const std::string range = fmt::format("Range: bytes={}-", offset);
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(
      offset > 0 ? curl_slist_append(nullptr, range.c_str()) : nullptr, curl_slist_free_all);
  if (headers != nullptr) curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());

  const CURLcode code = curl_easy_perform(curl.get());
  GetResult result = judge(body, code, path, detail.data());
  result.replaced = offset > 0 && body.placed && body.base == 0;
  return result;
}

}  // namespace mf
