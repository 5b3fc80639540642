#include "graph/plan/dump.hpp"

#include <gtest/gtest.h>

#include "graph/compile/compile.hpp"
#include "graph/passes/network/differentiate.hpp"
#include "tests/support/model_builder.hpp"

namespace penstock::graph {
namespace {

Graph two_layers() {
  testing::ModelBuilder model;
  const auto x = model.input("x", {5}), target = model.input("target", {2});
  const auto h = model.block("A").apply("relu", {model.linear("fc1", x, 4)}, {}, "hidden");
  const auto y = model.block("B").linear("fc2", h, 2);
  model.output("y", y);
  model.loss(model.apply("mse_loss", {y, target}, {}, "mse"));
  return model.graph();
}

TEST(Dump, ShowsAGraph) {
  EXPECT_EQ(dump(two_layers()), R"(model "test"
input x f32[1,5]
input target f32[1,2]
parameter fc1.weight f32[4,5]
parameter fc1.bias f32[4]
parameter fc2.weight f32[2,4]
parameter fc2.bias f32[2]
fc1 f32[1,4] = linear(x, fc1.weight, fc1.bias)  # A
hidden f32[1,4] = relu(fc1)  # A
fc2 f32[1,2] = linear(hidden, fc2.weight, fc2.bias)  # B
mse f32[] = mse_loss(fc2, target)  # B
output y = fc2
loss mse
)");
}

TEST(Dump, ShowsAPlan) {
  EXPECT_EQ(
      dump(compile(two_layers(), {.training = true, .batch = 3, .gradient_accumulation = 3}).plan),
      R"(plan "test": training, micro-batches of 3, schedule grouped
edge 0: input x f32[3,5]: host -> stage 0
edge 1: input target f32[3,2]: host -> stage 1
edge 2: activation hidden f32[3,4]: stage 0 stash+0 -> stage 1
edge 3: gradient fc2/linear_input_gradient f32[3,4]: stage 1 sent_back[0] -> stage 0
stage 0 on IPU 0 (A): 3 in flight; bytes: parameters 192, accumulators 192, stash 64, scratch 960
  fc1.weight f32[4,5]: parameters+0, accumulators+0
  fc1.bias f32[4]: parameters+128, accumulators+128
  forward: receives [0], sends [2]
    linear "fc1" (received[0], parameters+0, parameters+128) -> stash+0, 960 bytes at scratch+0
  backward: receives [3], sends []
    relu_gradient "fc1/relu_gradient" (stash+0, received[1]) -> scratch+704
    linear_weight_gradient "fc1/linear_weight_gradient" (received[0], scratch+704) -> scratch+576, 576 bytes at scratch+0, in the first micro-batch -> accumulators+0
    channel_sum "fc1/channel_sum" (scratch+704) -> scratch+0, in the first micro-batch -> accumulators+128
    accumulate "fc1/accumulate" (accumulators+0, scratch+576) -> accumulators+0, not in the first micro-batch
    accumulate "fc1/accumulate_2" (accumulators+128, scratch+0) -> accumulators+128, not in the first micro-batch
stage 1 on IPU 1 (B): 1 in flight, 3 output slots; bytes: parameters 128, accumulators 128, stash 0, outputs 128, scratch 768
  fc2.weight f32[2,4]: parameters+0, accumulators+0
  fc2.bias f32[2]: parameters+64, accumulators+64
  forward: receives [1, 2], sends []
    linear "fc2" (received[1], parameters+0, parameters+64) -> outputs+0, 768 bytes at scratch+0
    mse_loss "mse" (outputs+0, received[0]) -> outputs+64
  backward: receives [], sends [3]
    fill "mse/fill" () -> scratch+0
    mse_loss_gradient "mse/mse_loss_gradient" (outputs+0, received[0], scratch+0) -> scratch+640
    linear_input_gradient "fc2/linear_input_gradient" (scratch+640, parameters+0) -> sent_back[0], 384 bytes at scratch+0
    linear_weight_gradient "fc2/linear_weight_gradient" (received[1], scratch+640) -> scratch+576, 576 bytes at scratch+0, in the first micro-batch -> accumulators+0
    channel_sum "fc2/channel_sum" (scratch+640) -> scratch+0, in the first micro-batch -> accumulators+64
    accumulate "fc2/accumulate" (accumulators+0, scratch+576) -> accumulators+0, not in the first micro-batch
    accumulate "fc2/accumulate_2" (accumulators+64, scratch+0) -> accumulators+64, not in the first micro-batch
  output y: outputs+0
  output loss: outputs+64
)");
}

TEST(Dump, ShowsWhoOwnsASharedParameter) {
  testing::ModelBuilder model;
  const auto weight = model.parameter("w", {4, 4});
  const auto h = model.block("A").apply("linear", {model.input("x", {4}), weight});
  const auto target = model.input("target", {4});
  model.loss(model.block("B").apply("mse_loss", {model.apply("linear", {h, weight}), target}));
  const std::string text = dump(compile(model.graph(), {.training = true, .batch = 3}).plan);
  EXPECT_NE(text.find("  w f32[4,4]: parameters+0, accumulators+0, stage 1 accumulators+0\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  w f32[4,4]: parameters+0, a copy of stage 0's\n"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace penstock::graph
