#include "actors/loader/batch_port.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/refusal.hpp"

namespace penstock::actors {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;

LoadedBatch batch(std::int64_t dropped) {
  return {.dropped = dropped};
}

TEST(BatchPort, GivesTheAnswerToTheLastQuestionOnly) {
  BatchPort port;
  const std::uint64_t first = port.open(), second = port.open();
  port.give(first, batch(1));
  EXPECT_FALSE(port.take());
  port.give(second, batch(2));
  EXPECT_EQ(port.wait(hours(1), {})->dropped, 2);
  EXPECT_FALSE(port.take());
}

TEST(BatchPort, ForgetsAnAnswerThatNobodyTook) {
  BatchPort port;
  port.give(port.open(), batch(1));
  port.open();
  EXPECT_FALSE(port.wait(nanoseconds(1), {}));
}

TEST(BatchPort, IsWaitedAtUntilItGivesOrThatIsCancelled) {
  BatchPort port;
  const std::uint64_t number = port.open();
  std::stop_source source;
  {
    const std::jthread other([&] { source.request_stop(); });
    EXPECT_FALSE(port.wait(hours(1), source.get_token()));
  }
  port.give(number, batch(3));
  EXPECT_EQ(port.wait(hours(1), source.get_token())->dropped, 3) << "a batch goes first";
  const std::uint64_t next = port.open();
  const std::jthread other([&] { port.give(next, batch(4)); });
  EXPECT_EQ(port.wait(hours(1), {})->dropped, 4);
}

TEST(BatchPort, SaysThatTheLoaderHasBegunOrCouldNot) {
  BatchPort begins, ends;
  const std::jthread other([&] {
    begins.begin();
    ends.end();
  });
  EXPECT_NO_THROW(begins.await_begin());
  EXPECT_EQ(testing::refusal(Errc::out_of_memory, [&] { ends.await_begin(); }),
            "data loader: not enough memory");
}

TEST(BatchPort, SaysThatTheLoaderHasEnded) {
  BatchPort port;
  port.open();
  const std::jthread other([&] { port.end(); });
  EXPECT_EQ(testing::refusal(Errc::closed, [&] { port.wait(hours(1), {}); }),
            "data loader: its actor has ended; make a new one");
}

}  // namespace
}  // namespace penstock::actors
