#include "engine/model/model_calls.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>

#include "tests/support/forked.hpp"
#include "tests/support/latch.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock {
namespace {

using testing::exit_code_of_fork;
using testing::Latch;
using testing::refusal;

/// A CallElsewhere is a call on another thread. It begins in the constructor, and ends with end().
class CallElsewhere {
 public:
  CallElsewhere(ModelCalls& calls, std::string_view name)
      : done_(std::async(std::launch::async, [this, &calls, name] {
          const ModelCall call(calls, name);
          begun_.open();
          end_.wait();
        })) {
    EXPECT_TRUE(begun_.wait());
  }
  ~CallElsewhere() { end(); }
  void end() {
    end_.open();
    if (done_.valid()) done_.get();
  }

 private:
  Latch begun_, end_;
  std::future<void> done_;
};

TEST(ModelCalls, RefuseACallWhileAnotherThreadIsInOne) {
  ModelCalls calls("m");
  CallElsewhere step(calls, "TrainingModel::step");
  for (int time = 0; time < 2; ++time)
    EXPECT_EQ(refusal(Errc::busy, [&] { ModelCall(calls, "Model::weight"); }),
              "model \"m\": Model::weight cannot begin, for another thread is in "
              "TrainingModel::step; call it again when that has returned (a Model::clone() can be "
              "read and run beside it)");
  step.end();
  EXPECT_EQ(refusal(Errc::busy, [&] { ModelCall(calls, "Model::weight"); }), "accepted");
}

TEST(ModelCalls, LetACallMakeOthersUnlessItIsInTheMiddleOfSomething) {
  ModelCalls calls("m");
  const ModelCall fit(calls, "fit");
  const ModelCall step(calls, "TrainingModel::step");
  {
    const ModelCall::Undisturbed alone(step);
    EXPECT_EQ(refusal(Errc::busy, [&] { ModelCall(calls, "Model::weight"); }),
              "model \"m\": Model::weight cannot begin, for it was called from inside "
              "TrainingModel::step, which is not done; call it when that has returned");
  }
  EXPECT_EQ(refusal(Errc::busy, [&] { ModelCall(calls, "Model::weight"); }), "accepted");
}

TEST(ModelCalls, EndWithTheOutermostCall) {
  ModelCalls calls("m");
  {
    const ModelCall fit(calls, "fit");
    { const ModelCall step(calls, "TrainingModel::step"); }
    std::async(std::launch::async, [&] {
      EXPECT_NE(refusal(Errc::busy, [&] { ModelCall(calls, "x"); }).find("is in fit;"),
                std::string::npos);
    }).get();
  }
  CallElsewhere other(calls, "Model::weight");
}

TEST(ModelCalls, LetADestructorWaitForTheCallOfAnotherThread) {
  const auto calls = std::make_shared<ModelCalls>("m");
  CallElsewhere step(*calls, "TrainingModel::step");
  std::atomic<bool> may_end{false};
  std::promise<int> thread;
  auto end = std::async(std::launch::async, [&] {
    thread.set_value(testing::thread_number());
    const ModelEnd end(calls);
    EXPECT_TRUE(end.may_free());
    EXPECT_TRUE(may_end) << "it does not wait";
  });
  EXPECT_TRUE(testing::comes_to_wait(thread.get_future().get()));
  may_end = true;
  step.end();
  end.get();
}

TEST(ModelCalls, LetADestructorInsideACallOfItsOwnThreadGoOn) {
  const auto calls = std::make_shared<ModelCalls>("m");
  const ModelCall step(*calls, "TrainingModel::step");
  const ModelCall::Undisturbed alone(step);
  EXPECT_TRUE(ModelEnd(calls).may_free());
}

// In a forked process, the thread that is in a call does not exist, and therefore releases nothing.
TEST(ModelCalls, AreRefusedInAForkedProcessWhoeverWasInOne) {
  const auto calls = std::make_shared<ModelCalls>("m");
  const auto refused = [&] {
    const std::string text = refusal(Errc::closed, [&] { ModelCall(*calls, "Model::weight"); });
    return text.starts_with("model \"m\" belongs to the process") && !ModelEnd(calls).may_free();
  };
  EXPECT_EQ(exit_code_of_fork([&] { return refused() ? 7 : 1; }), 7);
  {
    const CallElsewhere step(*calls, "TrainingModel::step");
    EXPECT_EQ(exit_code_of_fork([&] { return refused() ? 7 : 1; }), 7);
  }
  const ModelCall outer_call(*calls, "Model::weight");
  EXPECT_EQ(exit_code_of_fork([&] { return refused() ? 7 : 1; }), 7);
}

}  // namespace
}  // namespace penstock
