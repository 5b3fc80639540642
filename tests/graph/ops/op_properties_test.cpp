// These tests check properties that every op must have, on the op's own samples and on the gradient
// nodes that the samples emit. An op in all_ops() is covered if it has `samples`, or if an op that
// has samples emits it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>

#include "graph/ops/list.hpp"
#include "penstock/error.hpp"
#include "tests/graph/ops/sample_run.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::OpCall;
using testing::same_bits;

/// Calls `check(call)` for every kernel call that the op's samples make, forward and backward.
template <class Check>
void for_each_call_of(const Op& op, Check check) {
  for (const OpSample& sample : op.samples()) {
    const SampleRun run = run_sample(op, sample);
    for (const OpCall& call : run.tape.calls()) {
      SCOPED_TRACE(std::string(call.op->name) +
                   (sample.inputs.empty() ? "" : " of " + to_string(sample.inputs[0])));
      check(call);
    }
  }
}

/// Returns the ops with samples for which `applies` returns true.
template <class Applies>
std::vector<const Op*> ops_where(Applies applies) {
  std::vector<const Op*> found;
  for (const Op* op : ops_with_samples())
    if (applies(*op)) found.push_back(op);
  return found;
}

std::string name_of(const ::testing::TestParamInfo<const Op*>& info) {
  return std::string(info.param->name);
}

class OpProperties : public ::testing::TestWithParam<const Op*> {
 protected:
  template <class Check>
  static void for_each_call(Check check) {
    for_each_call_of(*GetParam(), check);
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

TEST_P(OpProperties, RefusesToHaveNoInputsOrOneThatItDoesNotTake) {
  const OpSample sample = GetParam()->samples()[0];
  std::vector<TensorType> types;
  if (sample.inputs.empty()) types = {{DType::f32, {1}}};
  EXPECT_THROW(GetParam()->infer(sample.attributes, types), Error);
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpProperties, ::testing::ValuesIn(ops_with_samples()), name_of);

/// Returns the outputs of a call that may be computed in the memory of an input, with that input.
/// The two have the same size, because the memory plan reuses whole buffers only.
std::vector<Overwrite> in_place_of(const OpCall& call) {
  const auto in = testing::input_types(call), out = testing::output_types(call);
  std::vector<Overwrite> pairs;
  for (const Overwrite& pair : call.op->overwrites) {
    const auto input = static_cast<std::size_t>(pair.input);
    if (input < in.size() &&
        in[input].bytes() == out[static_cast<std::size_t>(pair.output)].bytes())
      pairs.push_back(pair);
  }
  for (const Update& pair : call.op->updates) pairs.push_back({pair.input, pair.output});
  return pairs;
}

bool works_in_place(const Op& op) {
  bool found = false;
  for_each_call_of(op, [&](const OpCall& call) { found |= !in_place_of(call).empty(); });
  return found;
}

class OpsInPlace : public OpProperties {};

TEST_P(OpsInPlace, GiveTheSameBits) {
  for_each_call([](const OpCall& call) {
    for (const Overwrite& pair : in_place_of(call))
      expect_same(run(call, {.in_place = pair}), run(call));
    for (const Update& pair : call.op->updates)
      EXPECT_EQ(testing::input_types(call)[static_cast<std::size_t>(pair.input)],
                testing::output_types(call)[static_cast<std::size_t>(pair.output)]);
  });
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpsInPlace, ::testing::ValuesIn(ops_where(works_in_place)),
                         name_of);

class OpsWithGradients : public OpProperties {};

TEST_P(OpsWithGradients, GiveEachTheSameBitsWhicheverOthersAreWanted) {
  int gradients = 0;
  for (const OpSample& sample : GetParam()->samples()) {
    const SampleRun all = run_sample(*GetParam(), sample);
    for (std::size_t i = 0; i < all.inputs.size(); ++i) {
      const Tensor& expected = all.tape.gradient(all.inputs[i]);
      if (!expected) continue;
      ++gradients;
      const SampleRun one = run_sample(*GetParam(), sample, {i});
      const Tensor& actual = one.tape.gradient(one.inputs[i]);
      EXPECT_TRUE(actual && same_bits(actual, expected)) << "input " << i;
    }
  }
  EXPECT_GT(gradients, 0);
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpsWithGradients,
                         ::testing::ValuesIn(ops_where([](const Op& op) { return op.backward; })),
                         name_of);

class OpsWithInputs : public OpProperties {};

/// Returns whether `op` only moves the elements of its input 0, which may be of any type.
bool moves_any_type(const Op& op) {
  constexpr std::string_view names[] = {"concat", "expand",  "flatten",  "gather",  "index_select",
                                        "pad",    "reshape", "slice",    "squeeze", "transpose",
                                        "tril",   "triu",    "unsqueeze"};
  return std::ranges::find(names, op.name) != std::end(names);
}

/// Returns whether `op` takes floats and integers alike, and makes integers of them.
bool makes_integers(const Op& op) {
  return op.name == "to_index";
}

TEST_P(OpsWithInputs, RefuseThoseOfAnotherType) {
  const bool moves = moves_any_type(*GetParam());
  for (const OpSample& sample : GetParam()->samples())
    for (std::size_t i = 0; i < sample.inputs.size(); ++i) {
      auto types = sample.inputs;
      types[i].dtype = types[i].dtype == DType::f32 ? DType::i64 : DType::f32;
      const bool takes = moves && i == 0 && (types.size() == 1 || types[1].dtype == DType::i64);
      if (makes_integers(*GetParam()))
        EXPECT_EQ(GetParam()->infer(sample.attributes, types)[0].dtype, DType::i64);
      else if (takes)
        EXPECT_EQ(GetParam()->infer(sample.attributes, types)[0].dtype, types[0].dtype);
      else
        EXPECT_THROW(GetParam()->infer(sample.attributes, types), Error) << "input " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpsWithInputs, ::testing::ValuesIn(ops_where([](const Op& op) {
                           return !op.samples()[0].inputs.empty();
                         })),
                         name_of);

TEST(OpSamples, ExerciseEveryOp) {
  std::set<std::string_view> exercised;
  for (const Op* op : ops_with_samples())
    for (const OpSample& sample : op->samples()) {
      const SampleRun run = run_sample(*op, sample);
      for (const OpCall& call : run.tape.calls()) exercised.insert(call.op->name);
    }
  // What a host's own op computes is the host's, and so are its samples.
  for (const Op* op : all_ops())
    EXPECT_TRUE(exercised.contains(op->name) || op->name.starts_with("custom"))
        << op->name << " is in no op's samples";
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
