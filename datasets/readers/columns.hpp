// The columns of a file, by their names in its header line, or by their places without a header.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/json/names.hpp"

namespace mf {

enum class Role { user, item, rating, time, other };
inline constexpr std::array kRoles = {Role::user, Role::item, Role::rating, Role::time};
inline constexpr Names kRoleNames{std::to_array<Named<Role>>(
    {{"user", Role::user}, {"item", Role::item}, {"rating", Role::rating}, {"time", Role::time}})};

// "#3" is the third column of a file without a header; empty for any other name.
std::optional<std::size_t> column_place(const std::string& name);

// The usual words find an empty one (datasets/README.md).
struct ColumnNames {
  std::string user, item, rating;
  std::string time = {};
  bool any() const { return !user.empty() || !item.empty() || !rating.empty() || !time.empty(); }
  bool by_place() const {
    return column_place(user) || column_place(item) || column_place(rating) || column_place(time);
  }
  const std::string& of(Role role) const { return this->*member(role); }
  std::string& of(Role role) { return this->*member(role); }

 private:
  static std::string ColumnNames::*member(Role role) {
    switch (role) {
      case Role::user:
        return &ColumnNames::user;
      case Role::item:
        return &ColumnNames::item;
      case Role::rating:
        return &ColumnNames::rating;
      default:
        return &ColumnNames::time;
    }
  }
};

struct Roles {
  std::vector<Role> of;  // a role a field
  // For each of kRoles the field that claims it as well as an earlier one, so that the choice is
  // open; or -1.
  std::array<int, kRoles.size()> rivals = {-1, -1, -1, -1};
  bool has(Role role) const;
};

// For the fields of a header, without quotes. A name that is asked for replaces the usual words,
// which count in any case, without '_', '-' and blanks and up to a ':' (RecBole writes
// "user_id:token"). If several fields have words of one role, a plain one ("rating", "userId") wins
// over the others ("plays", "customer").
Roles roles_of(const std::vector<std::string>& fields, const ColumnNames& names);

// "#1 user (ann), #2 item (7), #3 rating (5); no header", with the fields of the first rating.
std::string columns_taken(const Roles& roles, const std::vector<std::string>& fields, bool header);

// Whether these fields are names of columns: one of a user and one of an item.
bool is_header(const std::vector<std::string>& fields, const ColumnNames& names);

}  // namespace mf
