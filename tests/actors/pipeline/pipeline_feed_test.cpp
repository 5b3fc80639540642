// These tests check how the micro-batches of a call come to the stages.

#include <gtest/gtest.h>

#include <caf/event_based_actor.hpp>

#include "graph/values/memory.hpp"
#include "tests/support/deterministic_run.hpp"
#include "tests/support/small_cast.hpp"

namespace penstock::actors {
namespace {

using testing::DeterministicRun;
using testing::SmallCast;

/// Returns the behavior of an actor that stands for every stage. The actor keeps the tensors that
/// it gets, and does nothing else.
caf::behavior keep_all(caf::event_based_actor*, std::vector<EdgeTensor>* kept) {
  return {[=](EdgeTensor& tensor) { kept->push_back(std::move(tensor)); }};
}

bool lies_within(const Tensor& part, const Tensor& whole) {
  return part.raw() >= whole.raw() && part.raw() + part.bytes() <= whole.raw() + whole.bytes();
}

bool is_aligned(const Tensor& tensor) {
  return reinterpret_cast<std::uintptr_t>(tensor.raw()) % tensor_alignment == 0;
}

/// This many micro-batches are handed out before any is done: 2(N-1)+1, which stage 0 may hold by
/// its schedule, and two more, which may be on their way. N is the number of stages, 4.
constexpr std::size_t ahead = 7 + 2;

/// A FedStages has the feed of a cast of four stages. One actor stands for all of the stages.
class FedStages : public SmallCast {
 public:
  FedStages() : stage_(system().spawn(RunsOn::workers, keep_all, &kept_)) {
    const std::vector<StageHandle> stages(4, caf::actor_cast<StageHandle>(stage_));
    caf::anon_send(feed(), FeedLinks{{stages}});
    caf::anon_send(feed(), StepCall{inputs_, 0, micro_batches(2)});
  }
  ~FedStages() { caf::anon_send_exit(stage_, caf::exit_reason::user_shutdown); }

  FeedHandle feed() const { return actor<FeedHandle>("feed"); }
  const std::vector<Tensor>& call_inputs() const { return inputs_; }
  /// Returns the tensors that have come for each input of the plan, in the order in which they
  /// came.
  std::vector<std::vector<EdgeTensor>> taken() {
    DeterministicRun(system()).run();
    std::vector<std::vector<EdgeTensor>> result(plan().inputs.size());
    for (const EdgeTensor& tensor : kept_) {
      const graph::Edge& edge = plan().edges[static_cast<std::size_t>(tensor.edge)];
      result[static_cast<std::size_t>(edge.input)].push_back(tensor);
    }
    return result;
  }

 private:
  const std::vector<Tensor> inputs_ = inputs(2);
  std::vector<EdgeTensor> kept_;
  caf::actor stage_;
};

void expect_in_order(const std::vector<std::vector<EdgeTensor>>& taken, std::size_t count) {
  EXPECT_EQ(taken.size(), 2u);
  for (const std::vector<EdgeTensor>& input : taken) {
    ASSERT_EQ(input.size(), count);
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_EQ(input[i].micro_batch, static_cast<std::int64_t>(i));
  }
}

TEST(PipelineFeed, R3_9_HandsOutWhatThePipelineMayHoldBeforeAnyOfItIsDone) {
  FedStages stages;
  expect_in_order(stages.taken(), ahead);
  caf::anon_send(stages.feed(), Credit{0});
  expect_in_order(stages.taken(), ahead + 1);
}

// A micro-batch has three rows of eight numbers, which are 96 bytes. Therefore, every other
// micro-batch of the call's inputs begins at an address that is not aligned for kernels.
TEST(PipelineFeed, R3_9_CopiesOnlyMicroBatchesThatAreMisaligned) {
  FedStages stages;
  const auto taken = stages.taken();
  for (std::size_t input = 0; input < taken.size(); ++input)
    for (std::size_t i = 0; i < taken[input].size(); ++i) {
      const Tensor& tensor = taken[input][i].tensor;
      const auto row = static_cast<std::int64_t>(i) * SmallCast::batch;
      const Tensor rows = stages.call_inputs()[input].rows(row, row + SmallCast::batch);
      EXPECT_EQ(lies_within(tensor, stages.call_inputs()[input]), is_aligned(rows)) << i;
      EXPECT_TRUE(is_aligned(tensor)) << i;
      EXPECT_TRUE(testing::same_bits({tensor}, {rows})) << i;
    }
}

}  // namespace
}  // namespace penstock::actors
