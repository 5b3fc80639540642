// An OwningProcess says which process made an object. A fork gives the child process a copy of the
// object, but none of the object's threads, and perhaps locks that nobody will ever release. In the
// child process, nothing of the object may be waited for, locked, joined or freed.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::actors {

class OwningProcess {
 public:
  /// Remembers the calling process. A copy remembers the same process as the original.
  OwningProcess() noexcept;

  /// Returns whether the calling process is the one that made the object.
  bool is_current() const noexcept;
  /// Checks that the calling process is the one that made the object. `subject` names the object,
  /// such as `model "mnist"`. @throws Error closed if the calling process was forked from the one
  /// that made the object.
  void expect_current(std::string_view subject) const;

 private:
  int id_;
  // `forks_` is how many forks led from the process that loaded the library to the one that made
  // the object.
  std::uint64_t forks_;
};

}  // namespace penstock::actors
