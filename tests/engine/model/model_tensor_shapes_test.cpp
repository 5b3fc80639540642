// These tests check the layers of Model that move and find elements: the nodes that they add, and
// what they refuse. tests/e2e/tensor_functions_test.cpp checks what they compute.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/engine/model/layer_case.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::ModelLayers;
using testing::ops_of;
using testing::refusal;
using Case = testing::LayerCase;
using Inputs = testing::LayerInputs;
using Integers = std::vector<std::int64_t>;

const std::vector<Case> by_lists{
    {"index_select",
     [](Model& m, const Inputs& in) {
       return m.index_select(in.matrix, -1, {5, 0});
     },
     {1, 3, 2},
     {{"axis", std::int64_t{2}}, {"indices", Integers{5, 0}}}},
    {"index_select",
     [](Model& m, const Inputs& in) { return m.slice(in.matrix, 2, 1, 6, 2); },
     {1, 3, 3},
     {{"axis", std::int64_t{2}}, {"indices", Integers{1, 3, 5}}}},
    {"index_select",
     [](Model& m, const Inputs& in) {
       return m.flip(in.matrix, {1, -1});
     },
     {1, 3, 6},
     {{"axis", std::int64_t{2}}, {"indices", Integers{5, 4, 3, 2, 1, 0}}}},
    {"index_select",
     [](Model& m, const Inputs& in) { return m.roll(in.matrix, -7, 1); },
     {1, 3, 6},
     {{"axis", std::int64_t{1}}, {"indices", Integers{1, 2, 0}}}},
    {"index_select",
     [](Model& m, const Inputs& in) {
       return m.repeat(in.matrix, {2, 1});
     },
     {1, 6, 6},
     {{"axis", std::int64_t{1}}, {"indices", Integers{0, 1, 2, 0, 1, 2}}}},
    {"pad",
     [](Model& m, const Inputs& in) {
       return m.pad(in.matrix, {1, 2}, {.value = 0.5});
     },
     {1, 3, 9},
     {{"axis", std::int64_t{2}},
      {"before", std::int64_t{1}},
      {"after", std::int64_t{2}},
      {"value", 0.5}}},
    {"index_select",
     [](Model& m, const Inputs& in) {
       return m.pad(in.matrix, {0, 0, 2, 1}, {.mode = PadMode::reflect});
     },
     {1, 6, 6},
     {{"axis", std::int64_t{1}}, {"indices", Integers{2, 1, 0, 1, 2, 1}}}},
    {"index_select",
     [](Model& m, const Inputs& in) {
       return m.pad(in.matrix, {0, 0, 1, 4}, {.mode = PadMode::replicate});
     },
     {1, 8, 6},
     {{"axis", std::int64_t{1}}, {"indices", Integers{0, 0, 1, 2, 2, 2, 2, 2}}}},
    {"index_select",
     [](Model& m, const Inputs& in) {
       return m.pad(in.matrix, {0, 0, 1, 3}, {.mode = PadMode::circular});
     },
     {1, 7, 6},
     {{"axis", std::int64_t{1}}, {"indices", Integers{2, 0, 1, 2, 0, 1, 2}}}},
};

const std::vector<Case> of_shapes{
    {"expand",
     [](Model& m, const Inputs& in) {
       return m.expand(m.unsqueeze(in.features, 1), {4, -1});
     },
     {1, 4, 6},
     {{"shape", Integers{-1, 4, -1}}}},
    {"unsqueeze",
     [](Model& m, const Inputs& in) { return m.unsqueeze(in.matrix, -1); },
     {1, 3, 6, 1},
     {{"axis", std::int64_t{3}}}},
    {"squeeze",
     [](Model& m, const Inputs& in) { return m.squeeze(m.sum(in.matrix, {1}, true), -2); },
     {1, 6},
     {{"axis", std::int64_t{1}}}},
    {"concat",
     [](Model& m, const Inputs& in) {
       return m.stack({in.matrix, in.matrix}, -1);
     },
     {1, 3, 6, 2},
     {{"axis", std::int64_t{3}}}},
    {"slice",
     [](Model& m, const Inputs& in) { return m.split(in.matrix, 4, 2).back(); },
     {1, 3, 2},
     {{"axis", std::int64_t{2}}, {"begin", std::int64_t{4}}, {"end", std::int64_t{6}}}},
    {"slice",
     [](Model& m, const Inputs& in) {
       return m.split(in.matrix, {2, 1}).back();
     },
     {1, 1, 6},
     {{"axis", std::int64_t{1}}, {"begin", std::int64_t{2}}, {"end", std::int64_t{3}}}},
    {"slice",
     [](Model& m, const Inputs& in) { return m.chunk(in.image, 4, 2).back(); },
     {1, 4, 3, 8},
     {{"axis", std::int64_t{2}}, {"begin", std::int64_t{6}}, {"end", std::int64_t{9}}}},
    {"squeeze",
     [](Model& m, const Inputs& in) { return m.unbind(in.matrix, -1).back(); },
     {1, 3},
     {{"axis", std::int64_t{2}}}},
    {"tril",
     [](Model& m, const Inputs& in) { return m.tril(in.matrix, -1); },
     {1, 3, 6},
     {{"diagonal", std::int64_t{-1}}}},
    {"triu",
     [](Model& m, const Inputs& in) { return m.triu(in.matrix); },
     {1, 3, 6},
     {{"diagonal", std::int64_t{0}}}},
};

const std::vector<Case> by_values{
    {"gather",
     [](Model& m, const Inputs& in) {
       return m.gather(in.matrix, 2, m.argmax(in.matrix, 2, true));
     },
     {1, 3, 1},
     {{"axis", std::int64_t{2}}}},
    {"scatter_add",
     [](Model& m, const Inputs& in) {
       const Value index = m.argmin(in.matrix, -1, true);
       return m.scatter_add(in.matrix, -1, index, m.gather(in.matrix, -1, index));
     },
     {1, 3, 6},
     {{"axis", std::int64_t{2}}}},
    {"one_hot",
     [](Model& m, const Inputs& in) { return m.one_hot(in.labels, 7); },
     {1, 7},
     {{"classes", std::int64_t{7}}}},
    {"to_float",
     [](Model& m, const Inputs& in) { return m.to_float(in.labels, 0.5, -1); },
     {1},
     {{"scale", 0.5}, {"shift", -1.0}}},
    {"to_float",
     [](Model& m, const Inputs&) {
       const Value scale = m.constant("scale", Tensor({3}, {1, 2, 3}));
       const Value shift = m.constant("shift", Tensor({3}, {0, 1, 0}));
       return m.to_float(m.input("bytes", {3, 2, 2}, DType::u8), scale, shift);
     },
     {1, 3, 2, 2},
     {},
     {{.name = "scale", .shape = {3}, .trainable = false, .buffer = true},
      {.name = "shift", .shape = {3}, .trainable = false, .buffer = true}}},
    {"to_i64",
     [](Model& m, const Inputs&) { return m.to_i64(m.input("small", {2}, DType::i32)); },
     {1, 2}},
    {"argmax",
     [](Model& m, const Inputs& in) { return m.argmax(in.matrix, -1); },
     {1, 3},
     {{"axis", std::int64_t{2}}, {"keep", std::int64_t{0}}}},
    {"sort",
     [](Model& m, const Inputs& in) { return m.sort(in.matrix).indices; },
     {1, 3, 6},
     {{"axis", std::int64_t{2}}, {"descending", std::int64_t{0}}, {"count", std::int64_t{6}}}},
    {"sort",
     [](Model& m, const Inputs& in) { return m.topk(in.matrix, 2, 1).values; },
     {1, 2, 6},
     {{"axis", std::int64_t{1}}, {"descending", std::int64_t{1}}, {"count", std::int64_t{2}}}},
    {"cumsum",
     [](Model& m, const Inputs& in) { return m.cumsum(in.matrix, -2); },
     {1, 3, 6},
     {{"axis", std::int64_t{1}}}},
    {"prod",
     [](Model& m, const Inputs& in) { return m.prod(in.matrix, {-1}); },
     {1, 3},
     {{"axes", Integers{-1}}, {"keep", std::int64_t{0}}}},
    {"logsumexp",
     [](Model& m, const Inputs& in) { return m.logsumexp(in.matrix, {1}, true); },
     {1, 1, 6},
     {{"axes", Integers{1}}, {"keep", std::int64_t{1}}}},
    {"vector_norm",
     [](Model& m, const Inputs& in) { return m.norm(in.matrix, {2}, 3); },
     {1, 3},
     {{"axes", Integers{2}}, {"keep", std::int64_t{0}}, {"p", 3.0}}},
    {"amax",
     [](Model& m, const Inputs& in) {
       return m.norm(in.matrix, {2}, std::numeric_limits<double>::infinity());
     },
     {1, 3},
     {{"axes", Integers{2}}, {"keep", std::int64_t{0}}}},
};

INSTANTIATE_TEST_SUITE_P(ByLists, ModelLayers, ::testing::ValuesIn(by_lists));
INSTANTIATE_TEST_SUITE_P(OfShapes, ModelLayers, ::testing::ValuesIn(of_shapes));
INSTANTIATE_TEST_SUITE_P(ByValues, ModelLayers, ::testing::ValuesIn(by_values));

TEST(ModelTensorShapes, MoveIntegers) {
  Model model;
  const Value ids = model.input("ids", {3, 4}, DType::i64);
  const Value parts = model.concat({model.flip(ids, {1}), model.pad(ids, {1, 0, 0, 0})}, 2);
  EXPECT_EQ(model.shape(model.stack(model.chunk(parts, 3, 2), 1)), (Shape{1, 3, 3, 3}));
  EXPECT_EQ(model.shape(model.one_hot(model.unbind(ids)[0], 5)), (Shape{1, 4, 5}));
}

using Call = void (*)(Model&, const Inputs&);

std::string refusal_of(Call call) {
  Model model;
  const Inputs inputs(model);
  const std::string text = refusal(Errc::shape_mismatch, [&] { call(model, inputs); });
  EXPECT_TRUE(ops_of(model).empty()) << text;
  return text;
}

TEST(ModelTensorShapes, RefuseTheAxisThatCountsSamples) {
  const std::pair<const char*, Call> table[] = {
      {"slice", [](Model& m, const Inputs& in) { m.slice(in.matrix, 0, 0, 1, 2); }},
      {"index_select", [](Model& m, const Inputs& in) { m.index_select(in.matrix, 0, {0}); }},
      {"flip", [](Model& m, const Inputs& in) { m.flip(in.matrix, {0}); }},
      {"roll", [](Model& m, const Inputs& in) { m.roll(in.matrix, 1, 0); }},
      {"flatten", [](Model& m, const Inputs& in) { m.flatten(in.matrix, 0); }},
      {"squeeze", [](Model& m, const Inputs& in) { m.squeeze(in.matrix, 0); }},
      {"unsqueeze", [](Model& m, const Inputs& in) { m.unsqueeze(in.matrix, 0); }},
      {"stack", [](Model& m, const Inputs& in) { m.stack({in.matrix}, 0); }},
      {"split", [](Model& m, const Inputs& in) { m.split(in.matrix, 1, 0); }},
      {"split", [](Model& m, const Inputs& in) { m.split(in.matrix, Integers{1}, 0); }},
      {"chunk", [](Model& m, const Inputs& in) { m.chunk(in.matrix, 1, 0); }},
      {"unbind", [](Model& m, const Inputs& in) { m.unbind(in.matrix, 0); }},
      {"gather", [](Model& m, const Inputs& in) { m.gather(in.matrix, 0, in.labels); }},
      {"scatter_add",
       [](Model& m, const Inputs& in) { m.scatter_add(in.matrix, 0, in.labels, in.matrix); }},
      {"argmax", [](Model& m, const Inputs& in) { m.argmax(in.matrix, 0); }},
      {"argmin", [](Model& m, const Inputs& in) { m.argmin(in.matrix, 0); }},
      {"sort", [](Model& m, const Inputs& in) { m.sort(in.matrix, 0); }},
      {"topk", [](Model& m, const Inputs& in) { m.topk(in.matrix, 1, 0); }},
      {"cumsum", [](Model& m, const Inputs& in) { m.cumsum(in.matrix, 0); }},
      {"var", [](Model& m, const Inputs& in) { m.var(in.matrix, {0}); }},
  };
  for (const auto& [layer, call] : table)
    EXPECT_EQ(refusal_of(call), std::string(layer) +
                                    ": expected an axis behind axis 0, which counts samples, got "
                                    "axis 0");
  EXPECT_EQ(refusal_of([](Model& m, const Inputs& in) { m.flip(in.matrix, {-3}); }),
            "flip: expected an axis behind axis 0, which counts samples, got axis -3");
}

TEST(ModelTensorShapes, SayWhatTheyExpected) {
  const std::pair<const char*, Call> table[] = {
      {"flip: expected axis from -3 to 2, got 3",
       [](Model& m, const Inputs& in) { m.flip(in.matrix, {3}); }},
      {"flip: expected x of rank 2 or more, got rank 1",
       [](Model& m, const Inputs& in) { m.flip(in.labels, {1}); }},
      {"slice: expected a step of 1 or more, got 0",
       [](Model& m, const Inputs& in) { m.slice(in.matrix, 1, 0, 1, 0); }},
      {"slice: expected 0 <= begin <= end <= 3, got begin 2 and end 4",
       [](Model& m, const Inputs& in) { m.slice(in.matrix, 1, 2, 4, 2); }},
      {"repeat: expected a number for each axis behind axis 0 of x [1,3,6], got 3 in all",
       [](Model& m, const Inputs& in) {
         m.repeat(in.matrix, {1, 1, 2});
       }},
      {"repeat: expected each axis 1 time or more, got 0",
       [](Model& m, const Inputs& in) {
         m.repeat(in.matrix, {2, 0});
       }},
      {"pad: expected two widths for each of the last axes behind axis 0 of x [1,3,6], got 6 in "
       "all",
       [](Model& m, const Inputs& in) {
         m.pad(in.matrix, {0, 0, 0, 0, 1, 1});
       }},
      {"pad: expected widths of 0 or more, got -1",
       [](Model& m, const Inputs& in) {
         m.pad(in.matrix, {1, -1});
       }},
      {"pad: expected up to 2 elements before and after axis 1 of x [1,3,6], got 3 and 0",
       [](Model& m, const Inputs& in) {
         m.pad(in.matrix, {0, 0, 3, 0}, {.mode = PadMode::reflect});
       }},
      {"pad: expected up to 6 elements before and after axis 2 of x [1,3,6], got 0 and 7",
       [](Model& m, const Inputs& in) {
         m.pad(in.matrix, {0, 7}, {.mode = PadMode::circular});
       }},
      {"flatten \"flatten_1\": expected start_axis not to be behind end_axis, got axes 2 and 1 of "
       "x "
       "[1,3,6]",
       [](Model& m, const Inputs& in) { m.flatten(in.matrix, 2, 1); }},
      {"squeeze \"squeeze_1\": expected x with one element along axis 2, got [1,3,6]",
       [](Model& m, const Inputs& in) { m.squeeze(in.matrix, 2); }},
      {"split: expected parts of 1 element or more, got 0",
       [](Model& m, const Inputs& in) { m.split(in.matrix, 0); }},
      {"split: expected sizes that add up to 3 along axis 1 of x [1,3,6], got 2 behind element 2",
       [](Model& m, const Inputs& in) {
         m.split(in.matrix, {2, 2});
       }},
      {"split: expected sizes that add up to 3 along axis 1 of x [1,3,6], got a sum of 2",
       [](Model& m, const Inputs& in) {
         m.split(in.matrix, {1, 1});
       }},
      {"chunk: expected 1 part or more, got 0",
       [](Model& m, const Inputs& in) { m.chunk(in.matrix, 0); }},
      {"stack: expected 1 value or more, got 0", [](Model& m, const Inputs&) { m.stack({}); }},
      {"tril: expected x with two axes behind axis 0, which counts samples, got [1,6]",
       [](Model& m, const Inputs& in) { m.tril(in.features); }},
      {"topk: expected a k from 1 to 6 along axis 2 of x [1,3,6], got 7",
       [](Model& m, const Inputs& in) { m.topk(in.matrix, 7); }},
  };
  for (const auto& [text, call] : table) EXPECT_EQ(refusal_of(call), text);
}

}  // namespace
}  // namespace penstock
