#include "actors/system/owning_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/refusal.hpp"

namespace penstock::actors {
namespace {

using penstock::testing::refusal;

/// What a forked process exits with after `child`, which returns its exit code.
int exit_code_of_fork(const auto& child) {
  const pid_t id = ::fork();
  if (id == 0) ::_exit(child());
  int status = 0;
  ::waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(OwningProcess, IsTheOneThatMadeTheObject) {
  const OwningProcess owner;
  EXPECT_TRUE(owner.is_current());
  owner.expect_current("model \"m\"");
  EXPECT_TRUE(OwningProcess(owner).is_current());
}

TEST(OwningProcess, IsNotAProcessThatWasForkedFromIt) {
  const OwningProcess owner;
  EXPECT_EQ(exit_code_of_fork([&] {
              const OwningProcess own;
              const std::string text =
                  refusal(Errc::closed, [&] { owner.expect_current("model \"m\""); });
              const bool refused = text.find("model \"m\" belongs to the process") == 0;
              return !owner.is_current() && refused && own.is_current() ? 7 : 1;
            }),
            7);
}

}  // namespace
}  // namespace penstock::actors
