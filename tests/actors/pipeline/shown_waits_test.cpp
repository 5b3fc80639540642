// These tests check that every actor says at any time what it waits for, and that asking disturbs
// nothing.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "actors/host/wait_picture.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/deterministic_run.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/small_cast.hpp"

namespace penstock::actors {
namespace {

using testing::AllocationFailures;
using testing::DeterministicRun;
using testing::FailsOn;
using testing::same_bits;
using testing::SmallCast;

std::shared_ptr<WaitPicture> new_picture() {
  return std::make_shared<WaitPicture>(std::make_shared<Bell>());
}

const Wait* wait_of(const WaitPicture::Content& content, const std::string& actor) {
  const auto found = std::ranges::find(content.waits, actor, &Wait::actor);
  return found == content.waits.end() ? nullptr : &*found;
}

/// Asks the actors what they wait for in the middle of a window, after they have handled `steps`
/// messages. Returns their answers.
WaitPicture::Content shown_after(std::size_t steps) {
  SmallCast cast;
  DeterministicRun order(cast.system(), 7);
  cast.begin_windows(1);
  order.steps(steps);
  const auto picture = new_picture();
  EXPECT_TRUE(show_waits(cast.cast(), picture));
  order.run();
  EXPECT_TRUE(picture->complete());
  cast.host().wait(0);
  return picture->take();
}

TEST(ShownWaits, HaveAnAnswerOfEveryActor) {
  const WaitPicture::Content content = shown_after(0);
  EXPECT_EQ(content.asked, 10U) << "the feed, four stages, their optimizers, the gate";
  EXPECT_EQ(content.silent, 0U);
  ASSERT_NE(wait_of(content, "feed"), nullptr);
  for (const std::string actor : {"stage 0 (replica 0, IPU 0)", "stage 3 (replica 0, IPU 3)"}) {
    const Wait* stage = wait_of(content, actor);
    ASSERT_NE(stage, nullptr) << actor;
    EXPECT_GT(stage->since_ns, 0);
    EXPECT_FALSE(stage->ways.empty());
  }
  EXPECT_TRUE(std::ranges::is_sorted(content.waits, {}, &Wait::actor));
}

TEST(ShownWaits, ChangeNoBitWheneverTheyAreAskedFor) {
  SmallCast undisturbed;
  undisturbed.begin_windows(2);
  undisturbed.finish();
  const Variables expected = undisturbed.variables_after_end();
  SmallCast cast;
  DeterministicRun order(cast.system(), 11);
  cast.begin_windows(2);
  for (int asked = 0; !cast.host().answered() && asked < 10'000; ++asked) {
    EXPECT_TRUE(show_waits(cast.cast(), new_picture()));
    order.steps(3);
  }
  order.run();
  cast.host().wait(0);
  EXPECT_TRUE(same_bits(cast.variables_after_end(), expected));
}

TEST(ShownWaits, AreMissingWhereThereIsNoMemoryAndFailNobody) {
  for (std::int64_t first = 1; first < 60; ++first) {
    SmallCast cast;
    cast.begin_windows(1);
    const auto picture = new_picture();
    bool asked = false;
    {
      const AllocationFailures failures(first, 1, FailsOn::this_thread);
      asked = show_waits(cast.cast(), picture);
    }
    cast.finish();
    EXPECT_FALSE(cast.host().failure.failed()) << first;
    EXPECT_TRUE(asked || !picture->complete());
  }
}

TEST(ShownWaits, ComeEvenIfTheirReaderHasGone) {
  SmallCast cast;
  cast.begin_windows(1);
  EXPECT_TRUE(show_waits(cast.cast(), new_picture()));
  EXPECT_TRUE(show_waits(cast.cast(), new_picture()));
  cast.finish();
}

}  // namespace
}  // namespace penstock::actors
