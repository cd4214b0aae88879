#include "harness/results/files/xz_lines.hpp"

#include <array>
#include <fstream>

#include "base/error.hpp"
#include "base/files/files.hpp"

#ifdef MF_HAVE_LIBLZMA
#include <lzma.h>
#endif

namespace mf {

#ifdef MF_HAVE_LIBLZMA
namespace {

constexpr std::uint64_t kMostMemory = std::uint64_t{128} << 20;
constexpr std::uint64_t kMostText = std::uint64_t{1} << 30;
constexpr std::size_t kMostLine = std::size_t{64} << 20;

std::string why(lzma_ret code) {
  switch (code) {
    case LZMA_FORMAT_ERROR:
      return "no xz file";
    case LZMA_MEMLIMIT_ERROR:
      return "a file that needs over 128 MiB of memory to unpack";
    case LZMA_BUF_ERROR:
      return "a file that is cut off";
    default:
      return "damage";
  }
}

}  // namespace

class XzLines::Decoder {
 public:
  explicit Decoder(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) fail(ErrorKind::io, "{}: cannot be read: {}", path, last_cause());
    if (lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED) != LZMA_OK) refuse("damage");
  }
  ~Decoder() { lzma_end(&stream_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  bool next(std::string& line) {
    line.clear();
    for (;;) {
      const std::size_t end = text_.find('\n', at_);
      line.append(text_, at_, end == std::string::npos ? end : end - at_);
      at_ = end == std::string::npos ? text_.size() : end + 1;
      if (end != std::string::npos) return true;
      if (line.size() > kMostLine) refuse("a line of over 64 MiB");
      if (!unpack()) break;
    }
    if (!line.empty()) refuse("a last line without its end");
    return false;
  }

 private:
  // The next piece of text; false at the end.
  bool unpack() {
    std::array<std::uint8_t, 65536> out{};
    stream_.next_out = out.data();
    stream_.avail_out = out.size();
    while (!ended_ && stream_.avail_out == out.size()) {
      if (stream_.avail_in == 0) refill();
      const lzma_ret code = lzma_code(&stream_, file_ ? LZMA_RUN : LZMA_FINISH);
      ended_ = code == LZMA_STREAM_END;
      if (!ended_ && code != LZMA_OK) refuse(why(code));
    }
    if (stream_.total_out > kMostText) refuse("over 1 GiB of text");
    text_.assign(reinterpret_cast<const char*>(out.data()), out.size() - stream_.avail_out);
    at_ = 0;
    return !text_.empty();
  }

  void refill() {
    if (!file_) return;
    file_.read(reinterpret_cast<char*>(in_.data()), static_cast<std::streamsize>(in_.size()));
    stream_.next_in = in_.data();
    stream_.avail_in = static_cast<std::size_t>(file_.gcount());
  }

  [[noreturn]] void refuse(const std::string& found) const {
    fail_in_file(path_, found, "packed results", "take the file from where it came again");
  }

  std::string path_;
  std::ifstream file_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  std::array<std::uint8_t, 65536> in_{};
  std::string text_;
  std::size_t at_ = 0;
  bool ended_ = false;
};
#else
class XzLines::Decoder {
 public:
  explicit Decoder(const std::string& path) {
    fail(ErrorKind::unsupported,
         "{}: found packed results, which need liblzma, and this build has none; install "
         "liblzma-dev and build again, or unpack them (./dev pack --unpack)",
         path);
  }
  bool next(std::string&) { return false; }
};
#endif

XzLines::XzLines(const std::string& path) : decoder_(std::make_unique<Decoder>(path)) {}
XzLines::~XzLines() = default;

bool XzLines::next(std::string& line) {
  if (!decoder_->next(line)) return false;
  ++number_;
  return true;
}

}  // namespace mf
