// What must hold for every op, checked on its own samples and on the gradient nodes that these
// emit. An op in all_ops() is covered by having `samples`, or by being emitted by one that has.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "penstock/error.hpp"
#include "tests/graph/ops/sample_run.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::OpCall;
using testing::same_bits;

class OpProperties : public ::testing::TestWithParam<const Op*> {
 protected:
  /// Calls `check(call)` for every kernel call that the op's samples make, forward and backward.
  template <class Check>
  static void for_each_call(Check check) {
    for (const OpSample& sample : GetParam()->samples()) {
      const SampleRun run = run_sample(*GetParam(), sample);
      for (const OpCall& call : run.tape.calls()) {
        SCOPED_TRACE(std::string(call.op->name) +
                     (sample.inputs.empty() ? "" : " of " + to_string(sample.inputs[0])));
        check(call);
      }
    }
  }
};

void expect_same(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_TRUE(same_bits(actual[i], expected[i])) << "output " << i << " has other bits";
}

TEST_P(OpProperties, WritesEveryElementWhateverWasInItsMemory) {
  for_each_call([](const OpCall& call) {
    expect_same(run(call, {.poison = 0x5a}), run(call, {.poison = 0xff}));
  });
}

TEST_P(OpProperties, GivesTheSameBitsInPlace) {
  for_each_call([](const OpCall& call) {
    const auto in = testing::input_types(call), out = testing::output_types(call);
    for (const Overwrite& pair : call.op->overwrites) {
      const auto input = static_cast<std::size_t>(pair.input);
      if (input >= in.size() ||
          in[input].bytes() != out[static_cast<std::size_t>(pair.output)].bytes())
        continue;  // the memory plan reuses whole buffers only
      expect_same(run(call, {.in_place = pair}), run(call));
    }
    for (const Update& pair : call.op->updates) {
      EXPECT_EQ(in[static_cast<std::size_t>(pair.input)],
                out[static_cast<std::size_t>(pair.output)]);
      expect_same(run(call, {.in_place = Overwrite{pair.input, pair.output}}), run(call));
    }
  });
}

TEST_P(OpProperties, ComputesTheSameAgainWhenABufferHasChanged) {
  for_each_call([](const OpCall& call) {
    std::vector<bool> updated(testing::output_types(call).size());
    OpCall later = call;
    const auto first = run(call);
    for (const Update& pair : call.op->updates) {
      const auto input = static_cast<std::size_t>(pair.input);
      updated[static_cast<std::size_t>(pair.output)] = true;
      later.inputs[input] = first[static_cast<std::size_t>(pair.output)];
    }
    const auto second = run(later);
    for (std::size_t i = 0; i < first.size(); ++i)
      EXPECT_TRUE(updated[i] || same_bits(second[i], first[i])) << "output " << i;
  });
}

TEST_P(OpProperties, CountsAtLeastTheBytesThatItWrites) {
  for_each_call([](const OpCall& call) {
    ASSERT_NE(call.op->cost, nullptr);
    const auto in = testing::input_types(call), out = testing::output_types(call);
    const Cost cost = call.op->cost(call.attributes, in, out);
    double written = 0;
    for (const TensorType& type : out) written += static_cast<double>(type.bytes());
    EXPECT_GE(cost.bytes, written);
    EXPECT_TRUE(std::isfinite(cost.flops) && cost.flops >= 0) << cost.flops;
  });
}

TEST_P(OpProperties, GivesAGradientTheSameBitsWhicheverOthersAreWanted) {
  for (const OpSample& sample : GetParam()->samples()) {
    const SampleRun all = run_sample(*GetParam(), sample);
    for (std::size_t i = 0; i < all.inputs.size(); ++i) {
      const Tensor& expected = all.tape.gradient(all.inputs[i]);
      if (!expected) continue;
      const SampleRun one = run_sample(*GetParam(), sample, {i});
      const Tensor& actual = one.tape.gradient(one.inputs[i]);
      EXPECT_TRUE(actual && same_bits(actual, expected)) << "input " << i;
    }
  }
}

TEST_P(OpProperties, RefusesInputsOfAnotherType) {
  for (const OpSample& sample : GetParam()->samples())
    for (std::size_t i = 0; i < sample.inputs.size(); ++i) {
      auto types = sample.inputs;
      types[i].dtype = types[i].dtype == DType::f32 ? DType::i64 : DType::f32;
      EXPECT_THROW(GetParam()->infer(sample.attributes, types), Error) << "input " << i;
    }
}

TEST_P(OpProperties, RefusesToHaveNoInputsOrOneThatItDoesNotTake) {
  const OpSample sample = GetParam()->samples()[0];
  std::vector<TensorType> types;
  if (sample.inputs.empty()) types = {{DType::f32, {1}}};
  EXPECT_THROW(GetParam()->infer(sample.attributes, types), Error);
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpProperties, ::testing::ValuesIn(ops_with_samples()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(OpSamples, ExerciseEveryOp) {
  std::set<std::string_view> exercised;
  for (const Op* op : ops_with_samples())
    for (const OpSample& sample : op->samples()) {
      const SampleRun run = run_sample(*op, sample);
      for (const OpCall& call : run.tape.calls()) exercised.insert(call.op->name);
    }
  for (const Op* op : all_ops())
    EXPECT_TRUE(exercised.contains(op->name)) << op->name << " is in no op's samples";
}

TEST(OpList, NamesEachOpOnce) {
  std::set<std::string_view> names;
  for (const Op* op : all_ops()) {
    EXPECT_TRUE(names.insert(op->name).second) << op->name;
    EXPECT_EQ(&find_op(op->name), op);
  }
}

}  // namespace
}  // namespace penstock::graph
