#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "penstock/eigen.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::refusal;
using testing::same_bits;

const Tensor batch({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});

TEST(EigenMatrices, HaveARowForEachSample) {
  const MatrixMap<float> matrix = as_matrix(batch);
  EXPECT_EQ(matrix.rows(), 2);
  EXPECT_EQ(matrix.cols(), 6);
  EXPECT_EQ(matrix(1, 0), 7);
  EXPECT_EQ(static_cast<const void*>(matrix.data()), batch.raw());
  EXPECT_EQ(as_matrix(batch, 6, 2)(4, 1), 10);
  EXPECT_EQ(as_matrix(Tensor({}, {3})).sum(), 3);
  EXPECT_EQ(as_matrix(Tensor::zeros(DType::f32, {0, 4})).size(), 0);
}

TEST(EigenMatrices, OfIntegersAreIntegers) {
  const std::vector<std::int64_t> labels{3, 1, 2};
  EXPECT_EQ(as_matrix<std::int64_t>(Tensor({3}, labels)).maxCoeff(), 3);
}

TEST(EigenMatrices, RefuseOtherSizesAndTypes) {
  EXPECT_EQ(refusal(Errc::shape_mismatch, [] { as_matrix(batch, 5, 2); }),
            "as_matrix: expected 12 elements for the tensor [2,3,2], got 5 rows of 2");
  EXPECT_NE(refusal(Errc::shape_mismatch, [] { as_matrix<std::int64_t>(batch); }), "accepted");
  EXPECT_NE(refusal(Errc::invalid_argument, [] { as_matrix(Tensor()); }), "accepted");
}

TEST(EigenExpressions, BecomeTensorsRowByRow) {
  const auto matrix = as_matrix(batch, 3, 4);
  EXPECT_TRUE(same_bits(to_tensor(matrix.transpose() * 2),
                        Tensor({4, 3}, {2, 10, 18, 4, 12, 20, 6, 14, 22, 8, 16, 24})));
  EXPECT_TRUE(same_bits(to_tensor(matrix.array() - 1, {2, 6}),
                        Tensor({2, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})));
  const Eigen::Vector3f column(1, 2, 3);
  EXPECT_TRUE(same_bits(to_tensor(column), Tensor({3, 1}, {1, 2, 3})));
  EXPECT_NE(refusal(Errc::shape_mismatch, [&] { to_tensor(column, {4}); }), "accepted");
}

}  // namespace
}  // namespace penstock
