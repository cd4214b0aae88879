// Everything that is wrong, not the first of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace mf {

// One or several errors; what() has each in a line of its own, of very many the first.
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

// Collects errors of steps that do not need one another; the kind is that of the first.
class Problems {
 public:
  // Whether it was done. What it throws but Error passes.
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

  // Each message once: what several inherit is wrong in one place.
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

  // Throws ErrorList where there is any.
  void raise() const {
    if (kind_) throw ErrorList(*kind_, messages_);
  }

 private:
  std::optional<ErrorKind> kind_;
  std::vector<std::string> messages_;
  std::set<std::string> known_;
};

}  // namespace mf
