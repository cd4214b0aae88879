// The columns of a file with a header line, by their names there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mf {

// An empty one is found by the usual words (datasets/README.md).
struct ColumnNames {
  std::string user, item, rating;
  bool any() const { return !user.empty() || !item.empty() || !rating.empty(); }
};

enum class Role { user, item, rating, other };

struct Roles {
  std::vector<Role> of;  // a role a field
  int twice = -1;        // a field that is as good as one before it, or -1: nobody can tell
  bool has(Role role) const;
};

// Of the fields of a header, without quotes. A name that is asked for goes before the usual words,
// which count in any case, without '_', '-' and blanks and up to a ':' (RecBole writes
// "user_id:token"). Where several fields have words of one role, a plain one ("rating", "userId")
// goes before the others ("plays", "customer").
Roles roles_of(const std::vector<std::string>& fields, const ColumnNames& names);

// Whether these fields are names of columns: one of a user and one of an item.
bool is_header(const std::vector<std::string>& fields, const ColumnNames& names);

}  // namespace mf
