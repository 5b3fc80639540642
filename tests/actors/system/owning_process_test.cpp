#include "actors/system/owning_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#endif

#include "tests/support/forked.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::actors {
namespace {

using penstock::testing::exit_code_of_fork;
using penstock::testing::refusal;

TEST(OwningProcess, IsTheOneThatMadeTheObject) {
  const OwningProcess owner;
  EXPECT_TRUE(owner.is_current());
  owner.expect_current("model \"m\"");
  EXPECT_TRUE(OwningProcess(owner).is_current());
}

TEST(OwningProcess, IsNotAProcessThatWasForkedFromIt) {
  const OwningProcess owner;
  EXPECT_EQ(exit_code_of_fork([&] {
              const OwningProcess child;
              const std::string text =
                  refusal(Errc::closed, [&] { owner.expect_current("model \"m\""); });
              const bool refused = text.find("model \"m\" belongs to the process") == 0;
              return !owner.is_current() && refused && child.is_current() ? 7 : 1;
            }),
            7);
}

#if defined(__linux__)
/// Returns whether the next child of this process will be the first one of a namespace of its own,
/// in which it has the number 1. The system may not allow that.
bool numbers_children_anew() {
  return ::unshare(CLONE_NEWPID) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
}

// The first process of a container, which has the number 1, may start another container.
TEST(OwningProcess, IsNotAChildThatHasTheSameNumber) {
  constexpr int is_child = 7, not_allowed = 9;
  const int code = exit_code_of_fork([] {
    if (!numbers_children_anew()) return not_allowed;
    return exit_code_of_fork([] {
      const OwningProcess owner;
      if (!numbers_children_anew()) return not_allowed;
      return exit_code_of_fork(
          [&] { return ::getpid() == 1 && !owner.is_current() ? is_child : 1; });
    });
  });
  EXPECT_TRUE(code == is_child || code == not_allowed) << code;
}
#endif

}  // namespace
}  // namespace penstock::actors
