#include "actors/system/owning_process.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace penstock::actors
