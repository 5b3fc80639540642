// Eigen views of operands. Operands are 64-byte aligned, which Eigen may rely on.
#pragma once

#include <Eigen/Core>

#include "graph/op.hpp"

namespace penstock::graph {

using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixView = Eigen::Map<RowMatrix, Eigen::Aligned64>;
using ArrayView = Eigen::Map<Eigen::ArrayXf, Eigen::Aligned64>;

inline ArrayView array(const Operand& operand) {
  return {static_cast<float*>(operand.data), operand.elements()};
}
/// The operand as [rows, columns], row-major.
inline MatrixView matrix(const Operand& operand, std::int64_t rows, std::int64_t columns) {
  return {static_cast<float*>(operand.data), rows, columns};
}

}  // namespace penstock::graph
