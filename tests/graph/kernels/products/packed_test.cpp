// These tests compare products whose right factor is packed beforehand with those that pack it
// themselves, under every instruction set that the machine has. Factors are small whole numbers, so
// that floats hold all sums exactly, and each buffer has exactly the size that a product needs.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "graph/kernels/kernel_table.hpp"
#include "graph/kernels/products/workspace.hpp"
#include "tests/support/float_vectors.hpp"

namespace penstock::graph {
namespace {

using testing::poisoned;
using testing::whole_numbers;

/// A PackedCase has the operands of a product [rows,columns]; the right factor lies row by row if
/// `by_rows` is true, and else column by column.
struct PackedCase {
  std::int64_t rows, columns, depth;
  bool by_rows;
  std::vector<float> left = whole_numbers(rows * depth, 1);
  std::vector<float> right = whole_numbers(depth * columns, 2);
  std::vector<float> bias = whole_numbers(columns, 3);
  std::vector<float> before = whole_numbers(rows * columns, 4);

  ConstMatrix right_matrix() const {
    return by_rows ? ConstMatrix{right.data(), columns, 1} : ConstMatrix{right.data(), 1, depth};
  }

  std::vector<float> expected(Isa isa, bool accumulate) const {
    std::vector<float> result(before.size());
    std::vector<float> workspace = poisoned(product_floats(rows, columns, depth), 0xff);
    kernel_table(isa).products.multiply({.rows = rows,
                                         .columns = columns,
                                         .depth = depth,
                                         .left = {left.data(), depth, 1},
                                         .right = right_matrix(),
                                         .bias = bias.data(),
                                         .result = result.data()},
                                        {}, workspace.data());
    for (std::size_t i = 0; accumulate && i < result.size(); ++i) result[i] += before[i];
    return result;
  }

  std::vector<float> packed(Isa isa, bool accumulate) const {
    const ProductKernels& kernels = kernel_table(isa).products;
    std::vector<float> factor = poisoned(packed_factor_floats(columns, depth), 0xff);
    std::vector<float> workspace = poisoned(packed_product_floats(depth), 0xff);
    std::vector<float> result = before;
    kernels.pack_factor(columns, depth, right_matrix(), factor.data());
    kernels.multiply_packed({.rows = rows,
                             .columns = columns,
                             .depth = depth,
                             .left = left.data(),
                             .right = factor.data(),
                             .bias = bias.data(),
                             .accumulate = accumulate,
                             .result = result.data()},
                            workspace.data());
    return result;
  }
};

TEST(PackedProducts, AreThoseThatPackTheirFactorsThemselves) {
  for (const std::int64_t rows : {1, 5, 14, 15, 33})
    for (const std::int64_t columns : {1, 7, 16, 31, 32, 33, 100})
      for (const std::int64_t depth : {1, 3, 17, 255, 257, 600})
        for (const bool by_rows : {false, true}) {
          const PackedCase product{rows, columns, depth, by_rows};
          for (const Isa isa : available_isas())
            for (const bool accumulate : {false, true})
              ASSERT_EQ(product.packed(isa, accumulate), product.expected(isa, accumulate))
                  << rows << "x" << depth << " by " << columns << ", by rows " << by_rows << ", "
                  << to_string(isa);
        }
}

}  // namespace
}  // namespace penstock::graph
