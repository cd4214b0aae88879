#include "datasets/readers/text_source.hpp"

namespace mf {

Text make_text(const std::string& path, const Bytes& file, const OnContent& on_content) {
  Text text{path, file};
  const Compression compression = detect_compression(text.view());
  text.bytes = decompress(path, file, compression);
  if (on_content) on_content(compression == Compression::zip ? file : text.bytes);
  if (text.view().starts_with("\xef\xbb\xbf")) text.bytes.view.remove_prefix(3);
  return text;
}

Text open_text(const std::string& path) { return make_text(path, map_file(path)); }

}  // namespace mf
