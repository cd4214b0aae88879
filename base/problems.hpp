// Everything that is wrong, not only the first error.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace mf {

// One or more errors; what() has a line for each of the first kShown.
class ErrorList : public Error {
 public:
  static constexpr std::size_t kShown = 50;

  ErrorList(ErrorKind kind, std::vector<std::string> messages)
      : Error(kind, text_of(messages)), messages_(std::move(messages)) {}

  const std::vector<std::string>& messages() const { return messages_; }

 private:
  static std::string text_of(const std::vector<std::string>& messages) {
    if (messages.size() == 1) return messages.front();
    std::string text = fmt::format("{} errors", messages.size());
    for (std::size_t i = 0; i < std::min(messages.size(), kShown); ++i) {
      text += "\n  " + messages[i];
    }
    if (messages.size() > kShown) text += fmt::format("\n  and {} more", messages.size() - kShown);
    return text;
  }

  std::vector<std::string> messages_;
};

// Collects the errors of independent steps; the kind is the first one's.
class Problems {
 public:
  // Whether the action succeeded. Exceptions besides Error pass through.
  template <class Action>
  bool attempt(const Action& action) {
    try {
      action();
      return true;
    } catch (const ErrorList& errors) {
      for (const auto& message : errors.messages()) add(errors.kind(), message);
    } catch (const Error& error) {
      add(error.kind(), error.what());
    }
    return false;
  }

  // Each message once: a mistake that several steps inherit is one.
  void add(ErrorKind kind, const std::string& message) {
    if (!known_.insert(message).second) return;
    if (!kind_) kind_ = kind;
    messages_.push_back(message);
  }

  void take(const Problems& others) {
    for (const auto& one : others.messages_) add(*others.kind_, one);
  }

  bool any() const { return kind_.has_value(); }

  // Whether a message begins with this place.
  bool names(const std::string& place) const {
    return std::any_of(messages_.begin(), messages_.end(),
                       [&](const auto& one) { return one.starts_with(place + ":"); });
  }

  // Throws ErrorList if there are any.
  void raise() const {
    if (kind_) throw ErrorList(*kind_, messages_);
  }

 private:
  std::optional<ErrorKind> kind_;
  std::vector<std::string> messages_;
  std::set<std::string> known_;
};

}  // namespace mf
