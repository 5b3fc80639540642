// NameIndex finds names in a list that grows and shrinks at its end, without going through the
// list. It learns the names that were added when find() is called next. One thread at a time uses
// it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace penstock {

class NameIndex {
 public:
  NameIndex() = default;
  /// Makes a copy that is empty at first, and learns all names when find() is called.
  NameIndex(const NameIndex&) {}
  NameIndex& operator=(const NameIndex&) noexcept {
    keep(0);
    return *this;
  }

  /// Returns the first position below `count` whose name, `name_of(position)`, is `name`; nothing
  /// if there is none. Since the last call, names may have been added at the end of the list. If
  /// names were removed, keep() must have been called. @throws std::bad_alloc; the index can still
  /// be used then.
  std::optional<std::size_t> find(std::size_t count, const auto& name_of, const std::string& name) {
    while (names_.size() < count) learn(name_of(names_.size()));
    const auto found = first_.find(name);
    if (found == first_.end()) return std::nullopt;
    return found->second;
  }

  /// Forgets the names at position `count` and behind it.
  void keep(std::size_t count) noexcept {
    while (names_.size() > count) {
      if (names_.back()) first_.erase(first_.find(*names_.back()));
      names_.pop_back();
    }
  }

 private:
  void learn(const std::string& name) {
    // Room in `names_` is made first, so that the position is in `names_` and `first_` or in
    // neither.
    if (names_.size() == names_.capacity())
      names_.reserve(std::max<std::size_t>(16, 2 * names_.size()));
    const auto [at, is_first] = first_.emplace(name, names_.size());
    names_.push_back(is_first ? &at->first : nullptr);
  }

  // `first_` has the first position of each name.
  std::unordered_map<std::string, std::size_t> first_;
  // `names_` has a pointer to each name, by position. It is null if an earlier name is equal.
  std::vector<const std::string*> names_;
};

}  // namespace penstock
