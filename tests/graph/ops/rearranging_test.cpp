// These tests check that ops that rearrange elements put each element where their definitions say.
#include <gtest/gtest.h>

#include <numeric>

#include "graph/ops/list.hpp"
#include "penstock/error.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using List = std::vector<std::int64_t>;

/// Returns a tensor with the elements `first`, `first` + 1, ...
Tensor counted(const Shape& shape, float first = 0) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  std::iota(values.begin(), values.end(), first);
  return {shape, std::span<const float>(values)};
}

/// Returns a tensor of integers with the elements `first`, `first` + 1, ...
Tensor counted_integers(const Shape& shape, std::int64_t first = 0) {
  List values(static_cast<std::size_t>(shape.elements()));
  std::iota(values.begin(), values.end(), first);
  return {shape, std::span<const std::int64_t>(values)};
}

Tensor integers(const Shape& shape, const List& values) {
  return {shape, std::span<const std::int64_t>(values)};
}

struct Moved {
  std::string_view op;
  std::vector<Tensor> inputs;
  Attributes attributes;
  Tensor expected;
};

const Tensor pair_of_rows({2, 3}, {0, 1, 2, 3, 4, 5});

TEST(Rearranging, PutsEveryElementInItsPlace) {
  const Moved table[] = {
      {"reshape", {pair_of_rows}, {{"shape", List{3, -1}}}, Tensor({3, 2}, {0, 1, 2, 3, 4, 5})},
      {"reshape", {pair_of_rows}, {{"shape", List{0, 1, -1}}}, counted({2, 1, 3})},
      {"reshape", {counted({1, 1})}, {{"shape", List{}}}, counted({})},
      {"flatten", {counted({2, 3, 4})}, {}, counted({2, 12})},
      {"flatten", {counted({2, 3, 4})}, {{"start_axis", 0}}, counted({24})},
      {"flatten", {counted({2, 3, 4})}, {{"start_axis", -2}}, counted({2, 12})},
      {"flatten", {counted({2, 3, 4, 5})}, {{"end_axis", 2}}, counted({2, 12, 5})},
      {"flatten", {counted({2, 3, 4})}, {{"start_axis", 0}, {"end_axis", -2}}, counted({6, 4})},
      {"transpose", {pair_of_rows}, {{"axes", List{1, 0}}}, Tensor({3, 2}, {0, 3, 1, 4, 2, 5})},
      {"transpose", {pair_of_rows}, {{"axes", List{-1, 0}}}, Tensor({3, 2}, {0, 3, 1, 4, 2, 5})},
      {"transpose",
       {counted({2, 2, 2})},
       {{"axes", List{1, 0, 2}}},
       Tensor({2, 2, 2}, {0, 1, 4, 5, 2, 3, 6, 7})},
      {"transpose",
       {counted({2, 2, 2})},
       {{"axes", List{2, 0, 1}}},
       Tensor({2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7})},
      {"slice",
       {pair_of_rows},
       {{"axis", 1}, {"begin", 1}, {"end", 3}},
       Tensor({2, 2}, {1, 2, 4, 5})},
      {"slice", {pair_of_rows}, {{"begin", 1}, {"end", 2}}, Tensor({1, 3}, {3, 4, 5})},
      {"pad",
       {Tensor({2, 1}, {7, 8})},
       {{"axis", -1}, {"before", 1}, {"after", 1}},
       Tensor({2, 3}, {0, 7, 0, 0, 8, 0})},
      {"pad",
       {Tensor({1, 2}, {7, 8})},
       {{"after", 1}, {"value", 0.5}},
       Tensor({2, 2}, {7, 8, 0.5f, 0.5f})},
      {"index_select",
       {pair_of_rows},
       {{"axis", 1}, {"indices", List{2, 0, 2, 1}}},
       Tensor({2, 4}, {2, 0, 2, 1, 5, 3, 5, 4})},
      {"index_select", {pair_of_rows}, {{"indices", List{1}}}, counted({1, 3}, 3)},
      {"index_select_gradient",
       {Tensor({2, 3}, {1, 2, 4, 8, 16, 32})},
       {{"axis", -1}, {"indices", List{2, 0, 2}}, {"size", 3}},
       Tensor({2, 3}, {2, 0, 5, 16, 0, 40})},
      {"expand", {Tensor({2, 1}, {7, 8})}, {{"shape", List{-1, 2}}}, Tensor({2, 2}, {7, 7, 8, 8})},
      {"expand", {Tensor({2}, {7, 8})}, {{"shape", List{2, -1}}}, Tensor({2, 2}, {7, 8, 7, 8})},
      {"tril", {counted({1, 3, 2}, 1)}, {}, Tensor({1, 3, 2}, {1, 0, 3, 4, 5, 6})},
      {"tril", {counted({2, 2}, 1)}, {{"diagonal", -1}}, Tensor({2, 2}, {0, 0, 3, 0})},
      {"tril", {counted({2, 2}, 1)}, {{"diagonal", INT64_MAX}}, counted({2, 2}, 1)},
      {"triu", {counted({2, 3}, 1)}, {}, Tensor({2, 3}, {1, 2, 3, 0, 5, 6})},
      {"triu", {counted({2, 3}, 1)}, {{"diagonal", 2}}, Tensor({2, 3}, {0, 0, 3, 0, 0, 0})},
      {"triu", {counted({2, 3}, 1)}, {{"diagonal", INT64_MIN}}, counted({2, 3}, 1)},
      {"gather",
       {pair_of_rows, integers({2, 2}, {2, 2, 0, 1})},
       {{"axis", 1}},
       Tensor({2, 2}, {2, 2, 3, 4})},
      {"gather", {pair_of_rows, integers({1, 2}, {1, 0})}, {}, Tensor({1, 2}, {3, 1})},
      {"scatter_add",
       {pair_of_rows, integers({2, 2}, {2, 2, 0, 1}), Tensor({2, 2}, {10, 20, 30, 40})},
       {{"axis", 1}},
       Tensor({2, 3}, {0, 1, 32, 33, 44, 5})},
      {"one_hot",
       {integers({3}, {1, 0, 2})},
       {{"classes", 3}},
       Tensor({3, 3}, {0, 1, 0, 1, 0, 0, 0, 0, 1})},
      {"concat",
       {pair_of_rows, Tensor({2, 1}, {7, 8})},
       {{"axis", 1}},
       Tensor({2, 4}, {0, 1, 2, 7, 3, 4, 5, 8})},
      {"concat",
       {pair_of_rows, Tensor({1, 3}, {6, 7, 8}), Tensor({0, 3}, {})},
       {},
       counted({3, 3})},
      {"causal_mask_gradient", {counted({2, 2}, 1)}, {}, Tensor({2, 2}, {1, 0, 3, 4})},
  };
  for (const auto& [op, inputs, attributes, expected] : table) {
    const Tensor result =
        testing::run({.op = &find_op(op), .attributes = attributes, .inputs = inputs})[0];
    EXPECT_TRUE(testing::same_bits(result, expected)) << op << " to " << to_string(result.shape());
  }
}

TEST(Rearranging, MovesIntegersAsWell) {
  const Tensor rows_of_integers = counted_integers({2, 3});
  const Moved table[] = {
      {"reshape", {rows_of_integers}, {{"shape", List{3, -1}}}, counted_integers({3, 2})},
      {"flatten", {counted_integers({2, 3, 4})}, {}, counted_integers({2, 12})},
      {"transpose",
       {rows_of_integers},
       {{"axes", List{1, 0}}},
       integers({3, 2}, {0, 3, 1, 4, 2, 5})},
      {"slice",
       {rows_of_integers},
       {{"axis", 1}, {"begin", 1}, {"end", 3}},
       integers({2, 2}, {1, 2, 4, 5})},
      {"pad",
       {rows_of_integers},
       {{"axis", 1}, {"before", 1}, {"value", -7.0}},
       integers({2, 4}, {-7, 0, 1, 2, -7, 3, 4, 5})},
      {"concat", {rows_of_integers, counted_integers({1, 3}, 6)}, {}, counted_integers({3, 3})},
      {"expand",
       {integers({2, 1}, {7, 8})},
       {{"shape", List{-1, 2}}},
       integers({2, 2}, {7, 7, 8, 8})},
      {"index_select",
       {rows_of_integers},
       {{"axis", -1}, {"indices", List{2, 0}}},
       integers({2, 2}, {2, 0, 5, 3})},
      {"gather",
       {rows_of_integers, integers({2, 1}, {2, 0})},
       {{"axis", 1}},
       integers({2, 1}, {2, 3})},
      {"scatter_add",
       {integers({2, 2}, {1, INT64_MAX, 3, 4}), integers({2, 1}, {1, 0}), integers({2, 1}, {1, 7})},
       {{"axis", 1}},
       integers({2, 2}, {1, INT64_MIN, 10, 4})},
      {"squeeze", {counted_integers({2, 1, 3})}, {{"axis", 1}}, rows_of_integers},
      {"unsqueeze", {rows_of_integers}, {{"axis", -1}}, counted_integers({2, 3, 1})},
      {"tril", {counted_integers({2, 2}, 1)}, {}, integers({2, 2}, {1, 0, 3, 4})},
      {"triu", {counted_integers({2, 2}, 1)}, {}, integers({2, 2}, {1, 2, 0, 4})},
  };
  for (const auto& [op, inputs, attributes, expected] : table) {
    const Tensor result =
        testing::run({.op = &find_op(op), .attributes = attributes, .inputs = inputs})[0];
    EXPECT_TRUE(testing::same_bits(result, expected)) << op << " to " << to_string(result.shape());
  }
}

TEST(CausalMask, HidesWhatComesLaterInEveryMatrix) {
  const Tensor y =
      testing::run({.op = &find_op("causal_mask"), .inputs = {counted({2, 3, 4, 4})}})[0];
  for (std::size_t i = 0; i < y.as<float>().size(); ++i) {
    const std::size_t row = i / 4 % 4, column = i % 4;
    EXPECT_EQ(y.as<float>()[i],
              column > row ? -std::numeric_limits<float>::infinity() : static_cast<float>(i));
  }
}

TEST(Embedding, GivesThePaddingNoGradient) {
  const Tensor dweight =
      testing::run({.op = &find_op("embedding_gradient"),
                    .attributes = {{"rows", 3}, {"padding_index", 1}},
                    .inputs = {integers({4}, {1, 2, 1, 2}), counted({4, 1})}})[0];
  EXPECT_TRUE(testing::same_bits(dweight, Tensor({3, 1}, {0, 0, 4})));
}

TEST(Embedding, NamesAnIdThatIsNoRow) {
  for (const std::int64_t id : {-1, 5}) {
    const List ids{0, 1, 4, id};
    try {
      testing::run({.op = &find_op("embedding"),
                    .inputs = {counted({5, 3}), Tensor({4}, std::span<const std::int64_t>(ids))}});
      FAIL() << "accepted " << id;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::invalid_data);
      EXPECT_EQ(error.what(), "id " + std::to_string(id) + " at position 3: expected 0 to 4");
    }
  }
}

}  // namespace
}  // namespace penstock::graph
