#include "actors/system/owning_process.hpp"

#include <unistd.h>

#include <string>

#include "penstock/error.hpp"

namespace penstock::actors {

OwningProcess::OwningProcess() noexcept : id_(::getpid()) {}

bool OwningProcess::is_current() const noexcept {
  return id_ == ::getpid();
}

void OwningProcess::expect_current(std::string_view subject) const {
  if (is_current()) return;
  throw Error(Errc::closed, std::string(subject) +
                                " belongs to the process that made it, from which this one was "
                                "forked; make a new one here");
}

}  // namespace penstock::actors
