// These functions show tensors as matrices of Eigen, and make tensors from expressions of Eigen. No
// other header includes this one, so that only hosts that use it need Eigen.
#pragma once

#include "penstock/standard.hpp"

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/shape.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// A RowMatrix is a matrix of Eigen whose elements lie row by row, as those of a Tensor do.
template <class T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A MatrixMap is a matrix of Eigen that lies in the memory of a Tensor. It lives as long as a
/// handle of that tensor does.
template <class T>
using MatrixMap = Eigen::Map<const RowMatrix<T>>;

/// Returns the elements of `tensor` as a matrix: a row for each index of dimension 0, which counts
/// samples, and in it the elements of that sample. A tensor without dimensions is a matrix of one
/// element. T is the C++ type of the elements.
/// @throws Error shape_mismatch if the elements are not of type T; invalid_argument for an empty
/// handle.
template <class T = float>
MatrixMap<T> as_matrix(const Tensor& tensor) {
  const std::int64_t rows = tensor.shape().rank() == 0 ? 1 : tensor.shape()[0];
  const std::int64_t columns = rows == 0 ? 0 : tensor.elements() / rows;
  return {tensor.as<T>().data(), rows, columns};
}

/// Returns the elements of `tensor` as a matrix of `rows` rows and `columns` columns.
/// @throws Error shape_mismatch if the tensor has another number of elements, and as the other
/// as_matrix().
template <class T = float>
MatrixMap<T> as_matrix(const Tensor& tensor, std::int64_t rows, std::int64_t columns) {
  if (rows < 0 || columns < 0 || rows * columns != tensor.elements())
    throw Error(Errc::shape_mismatch, "as_matrix: expected " + std::to_string(tensor.elements()) +
                                          " elements for the tensor " + to_string(tensor.shape()) +
                                          ", got " + std::to_string(rows) + " rows of " +
                                          std::to_string(columns));
  return {tensor.as<T>().data(), rows, columns};
}

/// Returns a tensor of shape [rows,columns] with the elements of `expression`, which are of the C++
/// type of a DType other than `boolean`.
template <class Derived>
Tensor to_tensor(const Eigen::DenseBase<Derived>& expression) {
  using T = typename Derived::Scalar;
  const std::int64_t rows = expression.rows(), columns = expression.cols();
  std::vector<T> elements(static_cast<std::size_t>(rows * columns));
  Eigen::Map<RowMatrix<T>>(elements.data(), rows, columns) = expression.derived().matrix();
  return {Shape{rows, columns}, std::span<const T>(elements)};
}

/// Returns a tensor of shape `shape` with the elements of `expression`, row by row.
/// @throws Error shape_mismatch if `shape` has another number of elements.
template <class Derived>
Tensor to_tensor(const Eigen::DenseBase<Derived>& expression, const Shape& shape) {
  return to_tensor(expression).reshaped(shape);
}

}  // namespace penstock
