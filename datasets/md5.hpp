// MD5 (RFC 1321), because that is the checksum some origins publish beside their archives. It
// detects damage and changed files, not adversaries; where a SHA-256 is known, that decides too.
#pragma once

#include <string>
#include <string_view>

namespace mf {

std::string md5(std::string_view text);         // 32 lower-case hex digits
std::string md5_file(const std::string& path);  // throws Error(io)

}  // namespace mf
