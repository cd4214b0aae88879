#include "datasets/readers/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/text.hpp"
#include "datasets/readers/columns_form.hpp"

namespace mf {
namespace {

// Lower case, without '_', '-' and blanks, up to a ':': "User_ID:token" is "userid".
std::string normal(std::string_view name) {
  std::string out;
  for (const char c : name.substr(0, name.find(':'))) {
    if (c == '_' || c == '-' || c == ' ') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

// Names of columns as normal() writes them.
struct Words {
  Role role;
  std::string_view plain, others;
};

constexpr std::array<Words, kRoles.size()> kUsualWords = {{
    {Role::user, "user userid",
     "uid customer customerid reviewer reviewerid visitor visitorid member memberid listener "
     "listenerid client clientid username"},
    {Role::item, "item itemid",
     "iid movie movieid film filmid product productid track trackid song songid artist artistid "
     "album albumid book bookid isbn asin anime animeid joke jokeid game gameid article articleid "
     "recipe recipeid business businessid venue venueid location locationid stockcode sku"},
    {Role::rating, "rating",
     "ratings score stars value overall weight count counts plays playcount listens views clicks "
     "quantity qty frequency purchases hours bookrating movierating"},
    {Role::time, "timestamp time",
     "date datetime unixtime unixtimestamp unixreviewtime ratingtimestamp eventtime "
     "eventtimestamp createdat ratedat ts"},
}};

bool is_among(const std::string& word, std::string_view words) {
  const std::string all = " " + std::string(words) + " ";
  return !word.empty() && all.find(" " + word + " ") != all.npos;
}

enum class Claim { asked, plain, other, none };  // the strongest first

Claim claim_of(const std::string& field, const Words& words, const std::string& wanted) {
  if (!wanted.empty()) return field == wanted ? Claim::asked : Claim::none;
  const std::string word = normal(field);
  if (is_among(word, words.plain)) return Claim::plain;
  return is_among(word, words.others) ? Claim::other : Claim::none;
}

// Gives the role to the first field with the strongest claim to it.
void give(Roles& roles, const std::vector<std::string>& fields, const Words& words,
          const std::string& wanted) {
  Claim best = Claim::none;
  std::size_t at = 0;
  int& rival = roles.rivals[static_cast<std::size_t>(words.role)];
  for (std::size_t k = 0; k < fields.size(); ++k) {
    if (roles.of[k] != Role::other) continue;
    const Claim claim = claim_of(fields[k], words, wanted);
    if (claim == Claim::none || claim > best) continue;
    rival = claim == best ? static_cast<int>(k) : -1;
    if (claim < best) at = k;
    best = claim;
  }
  if (best != Claim::none) roles.of[at] = words.role;
}

}  // namespace

std::optional<std::size_t> column_place(const std::string& name) {
  constexpr std::size_t kMost = 10'000;
  std::size_t place = 0;
  const char* const end = name.data() + name.size();
  if (!name.starts_with('#')) return std::nullopt;
  const auto [last, error] = std::from_chars(name.data() + 1, end, place);
  if (error != std::errc() || last != end || place < 1 || place > kMost) return std::nullopt;
  return place;
}

std::string columns_taken(const Roles& roles, const std::vector<std::string>& fields, bool header) {
  constexpr std::size_t kShown = 24;
  std::vector<std::string> taken;
  for (std::size_t c = 0; c < std::min(roles.of.size(), fields.size()); ++c) {
    if (roles.of[c] == Role::other) continue;
    const bool cut = fields[c].size() > kShown;
    taken.push_back(fmt::format("#{} {} ({}{})", c + 1, kRoleNames.of(roles.of[c]),
                                fields[c].substr(0, kShown), cut ? "..." : ""));
  }
  return join(taken) + (header ? "; below a header" : "; no header");
}

bool Roles::has(Role role) const { return std::find(of.begin(), of.end(), role) != of.end(); }

Roles roles_of(const std::vector<std::string>& fields, const ColumnNames& names) {
  Roles roles{std::vector<Role>(fields.size(), Role::other)};
  for (const bool asked : {true, false}) {  // a field named for a role has no other
    for (const Words& words : kUsualWords) {
      const std::string& name = names.of(words.role);
      if (asked != name.empty()) give(roles, fields, words, name);
    }
  }
  return roles;
}

bool is_header(const std::vector<std::string>& fields, const ColumnNames& names) {
  const Roles roles = roles_of(fields, names);
  return roles.has(Role::user) && roles.has(Role::item);
}

const Form<ColumnNames>& columns_form() {
  static const auto form =
      Form<ColumnNames>()
          .optional_name("user", &ColumnNames::user, "the column of the user")
          .optional_name("item", &ColumnNames::item, "the column of the item")
          .optional_name("rating", &ColumnNames::rating, "the column of the rating, or count")
          .optional_name("time", &ColumnNames::time, "the column of the time, for splits by time");
  return form;
}

}  // namespace mf
