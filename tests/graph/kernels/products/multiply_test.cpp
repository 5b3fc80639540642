// These tests compare matrix products under every instruction set that the machine has with
// Eigen's, over sizes around every edge of a tile, a panel and a block. Factors are small whole
// numbers, so that floats hold all sums exactly: any order of summation gives the same result, and
// results must be equal and not only close. Each buffer has exactly the size that a product needs,
// so that a sanitizer notices an access outside.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "graph/kernels/kernel_table.hpp"
#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/units.hpp"
#include "graph/kernels/products/workspace.hpp"
#include "graph/plan/sharing.hpp"
#include "tests/support/float_vectors.hpp"

namespace penstock::graph {
namespace {

using testing::poisoned;
using testing::whole_numbers;

constexpr std::int64_t sizes[] = {1, 2, 3, 5, 7, 13, 16, 17, 31, 33, 63, 65, 100, 200};
/// These depths are around a vector, on both sides of a block of depth, and deep enough for dot
/// products.
constexpr std::int64_t depths[] = {0, 1, 3, 8, 17, 33, 100, 257, 320, 339, 600};

std::vector<float> transposed(std::int64_t rows, std::int64_t columns,
                              const std::vector<float>& matrix) {
  std::vector<float> result(matrix.size());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      result[static_cast<std::size_t>(j * rows + i)] =
          matrix[static_cast<std::size_t>(i * columns + j)];
  return result;
}

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Matrix> matrix(const std::vector<float>& values, std::int64_t rows,
                                std::int64_t columns) {
  return {values.data(), rows, columns};
}

/// A Case has the factors of one product, both row-major, and the result that is expected.
class Case {
 public:
  Case(std::int64_t rows, std::int64_t columns, std::int64_t depth, bool bias, bool relu)
      : rows_(rows),
        columns_(columns),
        depth_(depth),
        relu_(relu),
        left_(whole_numbers(rows * depth, 1)),
        right_(whole_numbers(depth * columns, 2)),
        bias_(whole_numbers(bias ? columns : 0, 3)),
        expected_(static_cast<std::size_t>(rows * columns)) {
    Eigen::Map<Matrix> product(expected_.data(), rows, columns);
    product.noalias() = matrix(left_, rows, depth) * matrix(right_, depth, columns);
    if (bias) product.rowwise() += matrix(bias_, 1, columns).row(0);
    if (relu) product = product.cwiseMax(0);
  }

  const std::vector<float>& expected() const { return expected_; }

  std::vector<float> computed(Isa isa, bool transpose_left, bool transpose_right,
                              unsigned char poison = 0xff) const {
    const auto left = transpose_left ? transposed(rows_, depth_, left_) : left_;
    const auto right = transpose_right ? transposed(depth_, columns_, right_) : right_;
    const auto in_parts = [&](std::int32_t parts) {
      std::vector<float> result = poisoned(std::ssize(expected_), poison);
      const Product product{
          .rows = rows_,
          .columns = columns_,
          .depth = depth_,
          .left = {left.data(), transpose_left ? 1 : depth_, transpose_left ? rows_ : 1},
          .right = {right.data(), transpose_right ? 1 : columns_, transpose_right ? depth_ : 1},
          .bias = bias_.empty() ? nullptr : bias_.data(),
          .relu = relu_,
          .result = result.data()};
      const Sharing sharing{.units = product_units(rows_, columns_), .parts = parts};
      for (std::int32_t part = 0; part < parts; ++part) {
        std::vector<float> workspace = poisoned(product_floats(rows_, columns_, depth_), poison);
        kernel_table(isa).products.multiply(product, piece_of(sharing, part), workspace.data());
      }
      return result;
    };
    const std::vector<float> whole = in_parts(1);
    for (const std::int32_t parts : {2, 5}) {
      EXPECT_EQ(std::memcmp(in_parts(parts).data(), whole.data(), whole.size() * sizeof(float)), 0)
          << parts << " parts";
    }
    return whole;
  }

 private:
  std::int64_t rows_, columns_, depth_;
  bool relu_;
  std::vector<float> left_, right_, bias_, expected_;
};

class Multiply : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(Multiply, IsTheSumOfProductsWhateverTheSizesAndTransposes) {
  const std::int64_t depth = GetParam();
  unsigned number = 0;
  for (const std::int64_t rows : sizes)
    for (const std::int64_t columns : sizes) {
      ++number;
      const Case item(rows, columns, depth, number % 2 == 0, number % 3 == 0);
      for (const Isa isa : available_isas())
        for (const bool left : {false, true})
          for (const bool right : {false, true})
            ASSERT_EQ(item.computed(isa, left, right), item.expected())
                << rows << "x" << depth << "x" << columns << ", transposed " << left << right
                << ", " << to_string(isa);
    }
}

INSTANTIATE_TEST_SUITE_P(Depths, Multiply, ::testing::ValuesIn(depths),
                         [](const auto& info) { return std::to_string(info.param); });

TEST(ProductKernels, ReadLargeRightFactorsInTheirOwnOrder) {
  constexpr std::int64_t columns = 777, depth = 350;
  static_assert(columns * depth > cached_floats);
  for (const std::int64_t rows : {1, 9, 30, 40, 64, 70}) {
    const Case item(rows, columns, depth, true, false);
    for (const Isa isa : available_isas())
      for (const bool right : {false, true})
        ASSERT_EQ(item.computed(isa, false, right), item.expected())
            << rows << " rows, transposed " << right << ", " << to_string(isa);
  }
}

TEST(ProductKernels, KeepSumsOfSomeColumnsAtATime) {
  constexpr std::int64_t rows = 60, columns = 1123, depth = 235;
  static_assert(columns * depth > cached_floats && columns > stationary_columns(rows));
  const Case item(rows, columns, depth, true, true);
  for (const Isa isa : available_isas())
    for (const bool left : {false, true})
      ASSERT_EQ(item.computed(isa, left, false), item.expected())
          << "transposed " << left << ", " << to_string(isa);
}

TEST(ProductKernels, ComputeNothingFromWhatWasInTheWorkspace) {
  for (const std::int64_t depth : {7, 300, 350}) {
    const Case item(33, 47, depth, true, false);
    for (const Isa isa : available_isas())
      for (const bool right : {false, true})
        EXPECT_EQ(item.computed(isa, false, right, 0x5a), item.computed(isa, false, right, 0xff))
            << depth << ", " << to_string(isa);
  }
}

TEST(ProductKernels, KeepWhatIsNotANumber) {
  const float left[] = {1, 2}, right[] = {__builtin_nanf(""), 3};
  for (const Isa isa : available_isas())
    for (const bool relu : {false, true}) {
      float result = 0;
      std::vector<float> workspace(static_cast<std::size_t>(product_floats(1, 1, 2)));
      kernel_table(isa).products.multiply({.rows = 1,
                                           .columns = 1,
                                           .depth = 2,
                                           .left = {left, 2, 1},
                                           .right = {right, 1, 1},
                                           .relu = relu,
                                           .result = &result},
                                          {}, workspace.data());
      EXPECT_NE(result, result) << to_string(isa);
    }
}

// Dot products read the last steps of a row together with some earlier ones, and other kernels read
// whole vectors. Numbers that are read twice, or beside a factor, must not count, not even as 0·∞.
TEST(ProductKernels, KeepInfinitiesOfEitherFactor) {
  constexpr float infinity = __builtin_inff();
  for (const std::int64_t depth : {320, 321, 331, 335})
    for (const std::int64_t columns : {1, 5, 6})
      for (const std::int64_t at : {std::int64_t{0}, depth - 20, depth - 10, depth - 1})
        for (const bool in_left : {false, true}) {
          std::vector<float> left(static_cast<std::size_t>(depth), 1.0f);
          std::vector<float> right(static_cast<std::size_t>(depth * columns), 1.0f);
          (in_left ? left : right)[static_cast<std::size_t>(at)] = infinity;
          for (const Isa isa : available_isas()) {
            std::vector<float> result(static_cast<std::size_t>(columns));
            std::vector<float> workspace = poisoned(product_floats(1, columns, depth), 0xff);
            kernel_table(isa).products.multiply({.rows = 1,
                                                 .columns = columns,
                                                 .depth = depth,
                                                 .left = {left.data(), depth, 1},
                                                 .right = {right.data(), 1, depth},
                                                 .result = result.data()},
                                                {}, workspace.data());
            for (std::int64_t column = 0; column < columns; ++column)
              ASSERT_EQ(result[static_cast<std::size_t>(column)],
                        in_left || column == 0 ? infinity : static_cast<float>(depth))
                  << depth << " deep, " << columns << " columns, at " << at << ", "
                  << to_string(isa);
          }
        }
}

}  // namespace
}  // namespace penstock::graph
