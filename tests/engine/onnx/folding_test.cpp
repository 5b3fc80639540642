#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "engine/onnx/folding/fold_call.hpp"
#include "engine/onnx/shapes/slice_range.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::testing {
namespace {

using Integers = std::vector<std::int64_t>;

Tensor integers(const Shape& shape, const Integers& elements) {
  return {shape, std::span<const std::int64_t>(elements)};
}

Tensor list(const Integers& elements) {
  return integers(Shape({std::ssize(elements)}), elements);
}

OnnxNode node(const std::string& op_type, const std::vector<OnnxAttribute>& attributes = {}) {
  return {.op_type = op_type, .outputs = {"y"}, .attributes = attributes};
}

/// Returns the first result of a node that is folded.
Tensor folded(const OnnxNode& node, const std::vector<Tensor>& inputs) {
  TensorReader reader{{}};
  const std::vector<Tensor> results = fold({.node = node, .inputs = inputs, .reader = reader});
  return results.empty() ? Tensor() : results.front();
}

struct Row {
  const char* op_type;
  std::vector<Tensor> inputs;
  std::vector<OnnxAttribute> attributes = {};
  Shape shape = {};
  Integers elements = {};
};

TEST(Folding, ComputesWhatNumPyComputes) {
  const Tensor matrix = integers({2, 3}, {1, 2, 3, 4, 5, 6});
  const OnnxAttribute axis1{.name = "axis", .integer = 1};
  const std::vector<Row> rows{
      {"Add", {matrix, list({10, 20, 30})}, {}, {2, 3}, {11, 22, 33, 14, 25, 36}},
      {"Sub", {matrix, integers({2, 1}, {1, 2})}, {}, {2, 3}, {0, 1, 2, 2, 3, 4}},
      {"Div", {list({7, -7, 9}), list({2, 2, -2})}, {}, {3}, {3, -3, -4}},
      {"Mod", {list({7, -7, 7}), list({3, 3, -3})}, {}, {3}, {1, 2, -2}},
      {"Mod",
       {list({7, -7, 7}), list({3, 3, -3})},
       {{.name = "fmod", .integer = 1}},
       {3},
       {1, -1, 1}},
      {"Pow", {list({2, -3}), list({5, 3})}, {}, {2}, {32, -27}},
      {"Max", {list({1, 9}), list({5, 5}), list({3, 3})}, {}, {2}, {5, 9}},
      {"Neg", {list({1, -2})}, {}, {2}, {-1, 2}},
      {"Concat",
       {list({1, 2}), list({}), list({3})},
       {{.name = "axis", .integer = 0}},
       {3},
       {1, 2, 3}},
      {"Concat", {matrix, integers({2, 1}, {7, 8})}, {axis1}, {2, 4}, {1, 2, 3, 7, 4, 5, 6, 8}},
      {"Gather", {matrix, integers({}, {-1})}, {axis1}, {2}, {3, 6}},
      {"Gather", {matrix, list({1, 0})}, {}, {2, 3}, {4, 5, 6, 1, 2, 3}},
      {"Slice",
       {matrix, list({0}), list({std::numeric_limits<std::int64_t>::max()}), list({1}), list({2})},
       {},
       {2, 2},
       {1, 3, 4, 6}},
      {"Slice",
       {list({1, 2, 3, 4}), list({-1}), list({std::numeric_limits<std::int64_t>::min()}), list({0}),
        list({-1})},
       {},
       {4},
       {4, 3, 2, 1}},
      {"Transpose", {matrix}, {}, {3, 2}, {1, 4, 2, 5, 3, 6}},
      {"Reshape", {matrix, list({0, -1, 1})}, {}, {2, 3, 1}, {1, 2, 3, 4, 5, 6}},
      {"Unsqueeze", {list({1, 2}), list({0, -1})}, {}, {1, 2, 1}, {1, 2}},
      {"Squeeze", {integers({1, 2, 1}, {1, 2}), list({0})}, {}, {2, 1}, {1, 2}},
      {"Expand", {integers({2, 1}, {1, 2}), list({1, 3})}, {}, {2, 3}, {1, 1, 1, 2, 2, 2}},
      {"Tile", {list({1, 2}), list({2})}, {}, {4}, {1, 2, 1, 2}},
      {"Range", {integers({}, {2}), integers({}, {9}), integers({}, {3})}, {}, {3}, {2, 5, 8}},
      {"ReduceProd", {matrix}, {{.name = "keepdims", .integer = 0}}, {}, {720}},
      {"ReduceSum", {matrix, list({1})}, {}, {2, 1}, {6, 15}},
      {"ReduceMax", {matrix}, {{.name = "axes", .integers = {0}}}, {1, 3}, {4, 5, 6}},
      {"Trilu", {matrix}, {{.name = "upper", .integer = 0}}, {2, 3}, {1, 0, 0, 4, 5, 0}},
      {"NonZero", {list({0, 5, 0, 7})}, {}, {1, 2}, {1, 3}},
  };
  for (const Row& row : rows) {
    const Tensor result = folded(node(row.op_type, row.attributes), row.inputs);
    ASSERT_TRUE(static_cast<bool>(result)) << row.op_type;
    EXPECT_EQ(result.shape(), row.shape) << row.op_type;
    EXPECT_EQ(integers_of(result), row.elements) << row.op_type;
  }
}

TEST(Folding, ComparesAndChooses) {
  const Tensor is_less = folded(node("Less"), {list({1, 5}), list({3, 3})});
  EXPECT_EQ(is_less.dtype(), DType::boolean);
  EXPECT_EQ(integers_of(is_less), (Integers{1, 0}));
  EXPECT_EQ(integers_of(folded(node("Where"), {is_less, list({10, 20}), list({30, 40})})),
            (Integers{10, 40}));
  EXPECT_EQ(integers_of(folded(node("Not"), {is_less})), (Integers{0, 1}));
}

TEST(Folding, CastsAsCppDoes) {
  const OnnxAttribute to_i64{.name = "to", .integer = 7}, to_bool{.name = "to", .integer = 9};
  EXPECT_EQ(integers_of(folded(node("Cast", {to_i64}), {Tensor({3}, {1.9f, -1.9f, 3})})),
            (Integers{1, -1, 3}));
  EXPECT_EQ(integers_of(folded(node("Cast", {to_bool}), {Tensor({2}, {0.5f, 0})})),
            (Integers{1, 0}));
}

TEST(Folding, WrapsIntegersAround) {
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max(),
                     least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(integers_of(folded(node("Add"), {list({largest}), list({1})})), Integers{least});
  EXPECT_EQ(integers_of(folded(node("Div"), {list({least}), list({-1})})), Integers{least});
}

TEST(Folding, RefusesWhatIsNoInputOfTheOperator) {
  const auto refused = [](const OnnxNode& call, const std::vector<Tensor>& inputs) {
    return refusal(Errc::corrupt_file, [&] { folded(call, inputs); });
  };
  EXPECT_EQ(refused(node("Div"), {list({1}), list({0})}), "a division of integers by zero");
  EXPECT_EQ(refused(node("Gather"), {list({1, 2}), list({2})}),
            "expected an index from -2 to 1, got 2");
  EXPECT_EQ(refused(node("Reshape"), {list({1, 2}), list({3})}),
            "expected a shape of as many elements as [2]");
  EXPECT_EQ(refused(node("Add"), {list({1, 2}), list({1, 2, 3})}),
            "expected shapes that broadcast to each other, got [2] and [3]");
  EXPECT_EQ(refused(node("Add"), {list({1})}), "expected an input number 1, got none");
}

TEST(Folding, RefusesDimensionsThatAreOutOfRange) {
  const auto refused = [](const OnnxNode& call, const std::vector<Tensor>& inputs) {
    return refusal(Errc::corrupt_file, [&] { folded(call, inputs); });
  };
  const OnnxAttribute axis1{.name = "axis", .integer = 1}, axis0{.name = "axis", .integer = 0};
  EXPECT_EQ(refused(node("Expand"), {integers({1, 2}, {1, 2}), list({-3})}),
            "expected dimensions of 0 or more, got [-3]");
  // These tensors have no elements, and their dimensions could be any.
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  const std::string text = "the sizes of a shape multiply to more than 2^48: ";
  EXPECT_EQ(refused(node("ConstantOfShape"), {list({0, std::int64_t{1} << 62})}),
            text + "[0,4611686018427387904]");
  EXPECT_EQ(refused(node("ConstantOfShape"), {list({0, huge, huge})}),
            text + "[0,1099511627776,1099511627776]");
  const Tensor empty = folded(node("ConstantOfShape"), {list({0, huge})});
  EXPECT_EQ(refused(node("Tile"), {empty, list({1, 1 << 20})}),
            "the product of the sizes 1099511627776 and 1048576 is more than 2^48");
  EXPECT_EQ(refused(node("Tile"), {empty, list({1, -2})}),
            "expected from 0 to 4194304 repeats of axis 1, got -2");
  EXPECT_EQ(refused(node("Tile"), {empty, list({1, 2, 3})}),
            "expected a number of repeats for each axis, which makes 2 of them, got 3");
  EXPECT_EQ(refused(node("Split"), {empty, list({0, 1})}),
            "expected sizes of parts that add up to the axis");
  EXPECT_EQ(refused(node("Concat", {axis1}), std::vector<Tensor>(257, empty)),
            text + "[0,282574488338432]");
  EXPECT_EQ(refused(node("Expand"), {list({1}), list(Integers(1000, -1))}),
            "expected dimensions of 0 or more, got [-1,-1,-1,-1,-1,-1,-1,-1,...]");
  EXPECT_EQ(folded(node("Split"), {empty, list({0, 0})}).shape(), Shape({0, huge}))
      << "a node may leave outputs out";
  EXPECT_EQ(folded(node("Concat", {axis0}), {empty, empty}).shape(), Shape({0, huge}));
  EXPECT_EQ(folded(node("Transpose"), {folded(node("Reshape"), {empty, list({0, 0, 1})})}).shape(),
            Shape({1, huge, 0}));
}

TEST(Folding, RefusesResultsThatAreTooLarge) {
  EXPECT_NE(refusal(Errc::unsupported,
                    [] {
                      folded(node("ConstantOfShape"), {list({1 << 20, 1 << 20})});
                    }),
            "accepted");
  EXPECT_NE(refusal(Errc::unsupported,
                    [] {
                      folded(node("Expand"), {list({1}), list({1LL << 30})});
                    }),
            "accepted");
  EXPECT_NE(refusal(Errc::unsupported,
                    [] {
                      folded(node("Range"),
                             {integers({}, {0}), integers({}, {1LL << 60}), integers({}, {1})});
                    }),
            "accepted");
}

TEST(Folding, RefusesRangesByTheirNumbersOfElements) {
  const auto range = [](float limit) {
    folded(node("Range"), {Tensor({}, {0.0f}), Tensor({}, {limit}), Tensor({}, {0.5f})});
  };
  EXPECT_EQ(refusal(Errc::corrupt_file, [&] { range(std::nanf("")); }),
            "expected numbers between which there are steps, got NaN");
  EXPECT_EQ(refusal(Errc::unsupported, [&] { range(4e6f); }),
            "a result of 8000000 elements that is known at import has more than 4194304 elements");
}

TEST(Folding, RefusesInputsThatMakeResultsAgainAndAgain) {
  const Tensor column = integers({1 << 12, 1}, Integers(1 << 12));
  EXPECT_NE(refusal(Errc::unsupported,
                    [&] {
                      folded(node("Transpose", {{.name = "perm", .integers = {0, 0}}}), {column});
                    }),
            "accepted");
  EXPECT_EQ(
      refusal(Errc::unsupported, [&] { folded(node("Max"), std::vector<Tensor>(1026, column)); }),
      "its 1026 inputs are known at import, and broadcast to [4096,1] they have more than 4194304 "
      "elements");
  EXPECT_EQ(refusal(Errc::corrupt_file,
                    [&] {
                      folded(node("Slice"), {column, list({0, 0}), list({9, 9}), list({1, -1})});
                    }),
            "expected axes that differ");
}

TEST(Folding, TakesNoMemoryForElementsBesidesThatOfTheResult) {
  constexpr std::int64_t count = 1 << 14;
  const Tensor x = integers({count, 1}, Integers(count, 1));
  const Tensor numbers(Shape({count}), std::span<const float>(std::vector<float>(count, 1)));
  const Tensor flags = folded(node("Equal"), {x, x}), zero = integers({}, {0});
  const OnnxAttribute axis0{.name = "axis", .integer = 0}, to_i64{.name = "to", .integer = 7};
  const std::vector<Row> rows{
      {"Add", {x, x}},
      {"Cast", {numbers}, {to_i64}},
      {"Concat", {x, x}, {axis0}},
      {"Equal", {x, x}},
      {"Gather", {list({0, 1}), folded(node("Sub"), {x, x})}},
      {"Max", {x, x, x}},
      {"Neg", {x}},
      {"NonZero", {x}},
      {"Range", {zero, integers({}, {count}), integers({}, {1})}},
      {"ReduceSum", {x}, {{.name = "axes", .integers = {1}}}},
      {"Slice", {x, list({1}), list({count})}},
      {"Split", {x}, {axis0}},
      {"Sqrt", {numbers}},
      {"Trilu", {x}},
      {"Where", {flags, x, x}},
  };
  for (const Row& row : rows) {
    const OnnxNode call = node(row.op_type, row.attributes);
    const std::uint64_t before = heap_bytes();
    const Tensor result = folded(call, row.inputs);
    EXPECT_LT(heap_bytes() - before, result.bytes() + 4096) << row.op_type;
    EXPECT_GE(result.elements(), count / 2) << row.op_type;
  }
}

TEST(Folding, RefusesIndicesOfTooManyElementsBeforeItTakesMemory) {
  const Tensor ones = integers({1 << 20, 1, 1, 1, 1, 1, 1, 1}, Integers(1 << 20, 1));
  const std::uint64_t before = heap_bytes();
  EXPECT_EQ(refusal(Errc::unsupported, [&] { folded(node("NonZero"), {ones}); }),
            "a result [8,1048576] that is known at import has more than 4194304 elements");
  EXPECT_LT(heap_bytes() - before, 8192u);
}

TEST(SliceRange, CountsAsNumPyDoes) {
  const auto range = [](std::int64_t start, std::int64_t end, std::int64_t step) {
    const SliceRange taken = slice_range(start, end, step, 10);
    return Integers{taken.first, taken.step, taken.count};
  };
  EXPECT_EQ(range(2, 9, 3), (Integers{2, 3, 3}));
  EXPECT_EQ(range(-3, 100, 1), (Integers{7, 1, 3}));
  EXPECT_EQ(range(5, 2, 1)[2], 0);
  EXPECT_EQ(range(8, 1, -3), (Integers{8, -3, 3}));
  EXPECT_EQ(range(0, 10, std::numeric_limits<std::int64_t>::max())[2], 1);
}

}  // namespace
}  // namespace penstock::testing
