// An OwningProcess says which process made an object. A fork leaves the child a copy of the object,
// but none of its threads, and perhaps locks that nobody will ever release: in the child, nothing
// of the object may be waited for, locked, joined or freed.
#pragma once

#include <string_view>

namespace penstock::actors {

class OwningProcess {
 public:
  /// Remembers the calling process. A copy remembers what the original does.
  OwningProcess() noexcept;

  /// Returns whether the calling process is the one that made the object.
  bool is_current() const noexcept;
  /// Expects that the calling process is the one that made the object. `subject` names the object,
  /// such as `model "mnist"`. @throws Error closed if the calling process was forked from the one
  /// that made the object.
  void expect_current(std::string_view subject) const;

 private:
  int id_;
};

}  // namespace penstock::actors
