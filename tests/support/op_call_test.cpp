// These tests call kernels that have one fault each, and check that run() finds the fault.
#include "tests/support/op_call.hpp"
#include "tests/support/same_bits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace penstock::testing {
namespace {

using graph::KernelCall;

std::vector<graph::TensorType> same_as_input(const graph::Attributes&, graph::Types in) {
  return {in[0]};
}

std::int64_t four_bytes(const graph::Attributes&, graph::Types, graph::Types) {
  return 4;
}

void copy(const KernelCall& call) {
  std::ranges::copy(call.inputs[0].f32(), call.outputs[0].f32().begin());
}

void copy_reversed(const KernelCall& call) {
  const auto x = call.inputs[0].f32(), y = call.outputs[0].f32();
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[x.size() - 1 - i];
}

OpCall call_of(const graph::Op& op) {
  return {.op = &op, .inputs = {Tensor({3}, {1.0f, 2.0f, 3.0f})}};
}

std::string complaint(void (*forward)(const KernelCall&)) {
  const graph::Op op{
      .name = "faulty", .infer = same_as_input, .forward = forward, .workspace = four_bytes};
  try {
    run(call_of(op));
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

TEST(OpCall, NoticesAKernelThatWritesWhereItMustNot) {
  EXPECT_EQ(complaint(copy), "");
  EXPECT_EQ(complaint([](const KernelCall& call) {
              copy(call);
              call.inputs[0].f32()[1] = 0;
            }),
            "faulty changed input 0");
  EXPECT_EQ(complaint([](const KernelCall& call) {
              copy(call);
              call.outputs[0].f32().data()[3] = 0;
            }),
            "faulty wrote past output 0");
  EXPECT_EQ(complaint([](const KernelCall& call) {
              copy(call);
              call.workspace.data()[4] = std::byte{0};
            }),
            "faulty wrote past its workspace");
}

TEST(OpCall, ShowsWhatAKernelLeftUnwritten) {
  const graph::Op op{.name = "lazy", .infer = same_as_input, .forward = [](const KernelCall& call) {
                       call.outputs[0].f32()[0] = 1;
                     }};
  EXPECT_FALSE(same_bits(run(call_of(op), {.poison = 0x5a})[0], run(call_of(op))[0]));
}

TEST(OpCall, ShowsAKernelThatCannotWorkInPlace) {
  const graph::Op op{.name = "reverse", .infer = same_as_input, .forward = copy_reversed};
  const CallMemory in_place{.in_place = graph::Overwrite{0, 0}};
  EXPECT_FALSE(same_bits(run(call_of(op), in_place)[0], run(call_of(op))[0]));
  const graph::Op identity{.name = "identity", .infer = same_as_input, .forward = copy};
  EXPECT_TRUE(same_bits(run(call_of(identity), in_place)[0], call_of(identity).inputs[0]));
}

}  // namespace
}  // namespace penstock::testing
