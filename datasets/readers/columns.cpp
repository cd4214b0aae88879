#include "datasets/readers/columns.hpp"

#include <algorithm>
#include <array>

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

struct Words {
  Role role;
  std::vector<std::string_view> plain, others;
};

const std::array<Words, 3>& usual_words() {
  static const std::array<Words, 3> words = {{
      {Role::user,
       {"user", "userid"},
       {"uid", "customer", "customerid", "reviewer", "reviewerid", "visitor", "visitorid", "member",
        "memberid", "listener", "listenerid", "client", "clientid", "username"}},
      {Role::item,
       {"item", "itemid"},
       {"iid",       "movie",    "movieid",    "film",   "filmid",  "product",   "productid",
        "track",     "trackid",  "song",       "songid", "artist",  "artistid",  "album",
        "albumid",   "book",     "bookid",     "isbn",   "asin",    "anime",     "animeid",
        "joke",      "jokeid",   "game",       "gameid", "article", "articleid", "recipe",
        "recipeid",  "business", "businessid", "venue",  "venueid", "location",  "locationid",
        "stockcode", "sku"}},
      {Role::rating, {"rating"}, {"ratings",   "score",     "stars",  "value",      "overall",
                                  "weight",    "count",     "counts", "plays",      "playcount",
                                  "listens",   "views",     "clicks", "quantity",   "qty",
                                  "frequency", "purchases", "hours",  "bookrating", "movierating"}},
  }};
  return words;
}

bool is_among(const std::string& word, const std::vector<std::string_view>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// 0: the name that is asked for; 1: a plain word; 2: another; 3: none.
int rank_of(const std::string& field, const Words& words, const std::string& wanted) {
  if (!wanted.empty()) return field == wanted ? 0 : 3;
  const std::string word = normal(field);
  return is_among(word, words.plain) ? 1 : is_among(word, words.others) ? 2 : 3;
}

// Gives the role to the field that has the best claim to it.
void give(Roles& roles, const std::vector<std::string>& fields, const Words& words,
          const std::string& wanted) {
  int best = 3;
  std::size_t at = 0;
  int twice = -1;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const int rank = roles.of[k] == Role::other ? rank_of(fields[k], words, wanted) : 3;
    if (rank == 3 || rank > best) continue;
    twice = rank == best ? static_cast<int>(k) : -1;
    if (rank < best) at = k;
    best = rank;
  }
  if (best < 3) roles.of[at] = words.role;
  if (roles.twice < 0) roles.twice = twice;
}

}  // namespace

bool Roles::has(Role role) const { return std::find(of.begin(), of.end(), role) != of.end(); }

Roles roles_of(const std::vector<std::string>& fields, const ColumnNames& names) {
  Roles roles{std::vector<Role>(fields.size(), Role::other)};
  const std::array<const std::string*, 3> wanted = {&names.user, &names.item, &names.rating};
  for (const bool named : {true, false}) {  // what is asked for by name is not guessed at
    for (std::size_t which = 0; which < wanted.size(); ++which) {
      if (named != wanted[which]->empty())
        give(roles, fields, usual_words()[which], *wanted[which]);
    }
  }
  return roles;
}

bool is_header(const std::vector<std::string>& fields, const ColumnNames& names) {
  const Roles roles = roles_of(fields, names);
  return roles.has(Role::user) && roles.has(Role::item);
}

}  // namespace mf
