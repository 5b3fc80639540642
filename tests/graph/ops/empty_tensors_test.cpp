// These tests check which ops refuse tensors without elements, and which ops accept them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "tests/graph/ops/sample_run.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/tape.hpp"

namespace penstock::graph {
namespace {

using List = std::vector<std::int64_t>;

TensorType f32(const Shape& shape) {
  return {DType::f32, shape};
}

struct Refused {
  const char* op;
  std::vector<TensorType> inputs;
  std::string text;
  Attributes attributes = {};
};

TEST(EmptyTensors, AreRefusedByOpsThatMakeNoSenseOfThem) {
  const TensorType nothing = f32({4, 0}), none = f32({0}), labels{DType::i64, {4}};
  const TensorType image = f32({2, 0, 3, 3}), flat = f32({2, 3, 0, 3});
  const Refused table[] = {
      {"linear", {nothing, f32({3, 0})}, "weight with at least one element, got f32[3,0]"},
      {"linear", {f32({4, 2}), f32({0, 2})}, "weight with at least one element, got f32[0,2]"},
      {"conv2d", {image, f32({4, 0, 1, 1})}, "weight with at least one element, got f32[4,0,1,1]"},
      {"conv2d",
       {f32({2, 1, 3, 3}), f32({0, 1, 1, 1})},
       "weight with at least one element, got f32[0,1,1,1]"},
      {"group_norm", {nothing, none, none}, "x with at least one element, got f32[4,0]"},
      {"rms_norm", {nothing, none}, "x with at least one element, got f32[4,0]"},
      {"layer_norm", {nothing, none, none}, "x with at least one element, got f32[4,0]"},
      {"batch_norm",
       {image, none, none, none, none},
       "x with at least one element, got f32[2,0,3,3]"},
      {"batch_norm_inference",
       {image, none, none, none, none},
       "x with at least one element, got f32[2,0,3,3]"},
      {"softmax", {nothing}, "x with at least one element, got f32[4,0]"},
      {"log_softmax", {nothing}, "x with at least one element, got f32[4,0]"},
      {"max_pool2d", {image}, "x with at least one element, got f32[2,0,3,3]", {{"kernel", 2}}},
      {"avg_pool2d", {flat}, "x with at least one element, got f32[2,3,0,3]", {{"kernel", 2}}},
      {"global_avg_pool2d", {image}, "x with at least one element, got f32[2,0,3,3]"},
      {"embedding", {f32({5, 0}), labels}, "weight with at least one element, got f32[5,0]"},
      {"cross_entropy", {nothing, labels}, "x with at least one element, got f32[4,0]"},
      {"nll_loss", {nothing, labels}, "log_probabilities with at least one element, got f32[4,0]"},
      {"identity_loss", {nothing}, "x with at least one element, got f32[4,0]"},
      {"multilabel_soft_margin_loss",
       {nothing, nothing},
       "x with at least one element, got f32[4,0]"},
      {"gaussian_nll_loss",
       {nothing, nothing, nothing},
       "x with at least one element, got f32[4,0]"},
      {"multi_margin_loss", {nothing, labels}, "x with at least one element, got f32[4,0]"},
      {"multilabel_margin_loss",
       {nothing, {DType::i64, {4, 0}}},
       "x with at least one element, got f32[4,0]"},
      {"cosine_embedding_loss",
       {nothing, nothing, f32({4})},
       "a with at least one element, got f32[4,0]"},
      {"margin_ranking_loss",
       {nothing, nothing, nothing},
       "a with at least one element, got f32[4,0]"},
      {"triplet_margin_loss",
       {nothing, nothing, nothing},
       "anchor with at least one element, got f32[4,0]"},
      {"ctc_loss",
       {f32({4, 0, 3}), {DType::i64, {4, 2}}, labels, labels},
       "log_probabilities with at least one element, got f32[4,0,3]"},
      {"lstm", {f32({4, 0, 8}), f32({8, 2})}, "gates with at least one element, got f32[4,0,8]"},
      {"gru", {f32({4, 3, 0}), f32({0, 0})}, "weight with at least one element, got f32[0,0]"},
  };
  for (const Refused& row : table)
    EXPECT_EQ(testing::refusal(Errc::shape_mismatch,
                               [&] { find_op(row.op).infer(row.attributes, row.inputs); }),
              "expected " + row.text)
        << row.op;
}

// Every loss refuses tensors without elements, because a mean of no terms would be NaN.
TEST(EmptyTensors, AreRefusedByEveryLoss) {
  for (const Op* op : ops_with_samples()) {
    if (!op->is_loss) continue;
    OpSample sample = op->samples()[0];
    for (TensorType& type : sample.inputs)
      if (type.shape.rank() > 1) type.shape = type.shape.with(1, 0);
    const std::string text = testing::refusal(Errc::shape_mismatch,
                                              [&] { op->infer(sample.attributes, sample.inputs); });
    EXPECT_NE(text.find(" with at least one element, got "), text.npos) << op->name << ": " << text;
  }
}

struct Taken {
  const char* op;
  std::vector<Shape> inputs;
  Shape result;
  Attributes attributes = {};
};

TEST(EmptyTensors, AreTakenByOpsThatMakeSenseOfThem) {
  const Shape nothing{4, 0};
  const Taken table[] = {
      {"add", {nothing, nothing}, nothing},
      {"mul", {nothing, {4, 1}}, nothing},
      {"relu", {nothing}, nothing},
      {"gelu", {nothing}, nothing},
      {"leaky_relu", {nothing}, nothing},
      {"elu", {nothing}, nothing},
      {"softplus", {nothing}, nothing},
      {"logsigmoid", {nothing}, nothing},
      {"mish", {nothing}, nothing},
      {"gelu_tanh", {nothing}, nothing},
      {"softsign", {nothing}, nothing},
      {"hardtanh", {nothing}, nothing},
      {"hardsigmoid", {nothing}, nothing},
      {"hardswish", {nothing}, nothing},
      {"softshrink", {nothing}, nothing},
      {"hardshrink", {nothing}, nothing},
      {"threshold", {nothing}, nothing},
      {"dropout", {{4, 0, 3}}, {4, 0, 3}, {{"channels", 1}}},
      {"dropout", {{4, 3, 0}}, {4, 3, 0}, {{"channels", 1}, {"alpha", 1}}},
      {"dropout", {nothing}, nothing},
      {"scale", {nothing}, nothing},
      {"transpose", {nothing}, {0, 4}, {{"axes", List{1, 0}}}},
      {"reshape", {nothing}, {2, 0, 3}, {{"shape", List{2, 0, 3}}}},
      {"concat", {nothing, {4, 2}, nothing}, {4, 2}, {{"axis", 1}}},
      {"slice", {{4, 3}}, nothing, {{"axis", 1}, {"begin", 2}, {"end", 2}}},
      {"pad", {nothing}, {4, 2}, {{"axis", 1}, {"before", 2}}},
      {"index_select", {{4, 3}}, nothing, {{"axis", 1}}},
      {"interpolate", {{0, 3}}, {0, 5}, {{"axis", 1}, {"size", 5}}},
      {"expand", {{1, 0}}, nothing, {{"shape", List{4, -1}}}},
      {"tril", {nothing}, nothing},
      {"triu", {{0, 4}}, {0, 4}},
      {"cumsum", {nothing}, nothing, {{"axis", 1}}},
      {"sort", {nothing}, nothing, {{"axis", 1}}},
      {"sort", {{4, 3}}, nothing, {{"axis", 1}, {"count", 0}}},
      {"vector_norm", {nothing}, {4}, {{"axes", List{1}}}},
      {"matmul", {{2, 4, 0}, {0, 3}}, {2, 4, 3}},
      {"matmul", {{0, 2, 3}, {3, 2}}, {0, 2, 2}},
      {"matmul", {nothing, {0, 3}}, {4, 3}},
      {"matmul", {{0, 2}, {2, 3}}, {0, 3}},
  };
  for (const Taken& row : table) {
    testing::Tape tape;
    std::vector<ValueId> inputs;
    for (const Shape& shape : row.inputs)
      inputs.push_back(tape.leaf(Tensor::zeros(DType::f32, shape)));
    const ValueId y = tape.apply(find_op(row.op), inputs, row.attributes)[0];
    EXPECT_EQ(tape[y].shape(), row.result) << row.op;
    EXPECT_TRUE(std::ranges::all_of(tape[y].as<float>(), [](float v) { return v == 0; })) << row.op;
    tape.backward(y, Tensor::zeros(DType::f32, row.result));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      EXPECT_EQ(tape.gradient(inputs[i]).shape(), row.inputs[i]) << row.op;
  }
}

}  // namespace
}  // namespace penstock::graph
