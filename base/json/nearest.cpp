// Suggests a known word for an unknown one.
#include <algorithm>
#include <utility>

#include "base/host/system_files.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

// Our names, and the usual names in other programs as plain() writes them. Only candidates are
// suggested.
constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {
    {"learning_rate", "lr eta alpha gamma stepsize"},
    {"reg", "lambda l2 weightdecay regularization regularisation"},
    {"factors", "k f rank dim dimension embeddingdim latent"},
    {"epochs", "iterations iters niter maxiter passes"},
    {"threads", "njobs workers cores"},
    {"seeds", "randomstate repeats"},
    {"seed", "randomstate"},
    {"algorithms", "models methods solvers"},
    {"datasets", "data"},
    {"holdout", "testsize testfraction testratio"},
    {"wall_seconds", "timeout maxseconds"},
    {"plateau", "earlystopping"},
    {"path", "file"},
    {"evaluate", "eval"}};

// Lower case, without separators of words: "Learning-Rate" is "learningrate".
std::string plain(std::string_view word) {
  std::string out;
  for (const char c : word) {
    if (c == '_' || c == '-' || c == ' ') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::vector<std::string_view> parts_of(std::string_view word) { return words_in(word, "_-. "); }

bool is_synonym(const std::string& letters, std::string_view of) {
  return std::ranges::any_of(kSynonyms, [&](const auto& known) {
    const std::string words = " " + std::string(known.second) + " ";
    return known.first == of && words.find(" " + letters + " ") != words.npos;
  });
}

// "wsec" or "wall_sec" for "wall_seconds": as many letters of each part as it likes, one at least.
bool abbreviates(std::string_view letters, const std::vector<std::string_view>& parts,
                 std::size_t from = 0) {
  if (from == parts.size()) return letters.empty();
  const std::string part = plain(parts[from]);
  for (std::size_t n = 1; n <= std::min(part.size(), letters.size()); ++n) {
    if (part[n - 1] != letters[n - 1]) return false;
    if (abbreviates(letters.substr(n), parts, from + 1)) return true;
  }
  return false;
}

// One of the parts of the longer word is the other.
bool contains_part(std::string_view word, std::string_view candidate) {
  const auto has = [](std::string_view whole, std::string_view part) {
    const auto parts = parts_of(whole);
    return part.size() > 2 && parts.size() > 1 &&
           std::any_of(parts.begin(), parts.end(),
                       [&](auto one) { return plain(one) == plain(part); });
  };
  return has(word, candidate) || has(candidate, word);
}

std::string nearest_letters(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  // Of two letters, two changes leave nothing.
  std::size_t best_distance = word.size() < 3 ? 2 : std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongest = 100;  // of a word that was mistyped
  if (word.empty() || word.size() > kLongest) return "";
  const std::string letters = plain(word);
  const auto first = [&](const auto& fits) -> std::string {
    const auto found = std::find_if(candidates.begin(), candidates.end(), fits);
    return found == candidates.end() ? "" : *found;
  };
  std::string found = first([&](const auto& one) { return plain(one) == letters; });
  if (found.empty()) found = first([&](const auto& one) { return is_synonym(letters, one); });
  if (found.empty()) found = nearest_letters(word, candidates);
  if (found.empty() && letters.size() > 1) {
    found = first([&](const auto& one) { return abbreviates(letters, parts_of(one)); });
  }
  if (found.empty()) {
    found = first([&](const auto& one) {  // "minimum" for "min"
      return contains_part(word, one) || (one.size() > 2 && letters.starts_with(plain(one)));
    });
  }
  return found;
}

}  // namespace mf
