#include "tests/support/other_user.hpp"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace penstock::testing {
namespace {

constexpr int nobody = 65534;

bool become_nobody() {
  if (::geteuid() != 0) return true;
  return ::setgroups(0, nullptr) == 0 && ::setgid(nobody) == 0 && ::setuid(nobody) == 0;
}

bool holds(const std::function<bool()>& action) {
  try {
    return become_nobody() && action() && !::testing::Test::HasFailure();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return false;
  }
}

}  // namespace

bool succeeds_as_other_user(const std::function<bool()>& action) {
  const pid_t process = ::fork();
  if (process == 0) ::_exit(holds(action) ? 0 : 1);
  int status = 0;
  return process > 0 && ::waitpid(process, &status, 0) == process && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace penstock::testing
