// These functions walk through several tensors of up to eight dimensions at the same time, each
// with strides of its own. They know the rules of NumPy's broadcasting: shapes are aligned at their
// last axes, and a dimension that is 1 or missing is repeated.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Returns whether a tensor of shape `from` can be repeated to shape `to`.
bool broadcasts_to(const Shape& from, const Shape& to);
/// Returns the shape to which tensors of the shapes `a` and `b` can both be repeated, if there is
/// one.
std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b);
/// Returns the text of the refusal of shapes `a` and `b` that do not broadcast: "expected shapes
/// that broadcast, got [3,2] and [3]; counted from the last axis, sizes have to be equal or 1, and
/// unsqueeze() adds an axis of 1". `expected` is "shapes that broadcast" there, and `last_axis` is
/// "the last axis".
std::string broadcast_refusal(std::string_view expected, std::string_view last_axis, const Shape& a,
                              const Shape& b);
/// Maps (a, b), f32 of shapes that broadcast, to their common shape.
std::vector<TensorType> infer_broadcast(const Attributes&, Types inputs);

using Strides = std::array<std::int64_t, Shape::max_rank>;

/// Returns the strides of a dense row-major tensor of shape `shape`, counted in elements.
Strides dense_strides(const Shape& shape);
/// Returns the strides with which a tensor of shape `from` is read as if it were repeated to shape
/// `to`. The strides are 0 along dimensions that are repeated. `from` must broadcast to `to`.
Strides broadcast_strides(const Shape& from, const Shape& to);

/// A StridedWalk goes through K tensors over one index space, row-major. Neighbouring dimensions
/// are merged where every tensor can step through them with one stride, so that rows are as long as
/// possible.
template <std::size_t K>
class StridedWalk {
 public:
  using Offsets = std::array<std::int64_t, K>;

  StridedWalk(const Shape& shape, const std::array<Strides, K>& strides) {
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      Offsets steps;
      for (std::size_t k = 0; k < K; ++k) steps[k] = strides[k][axis];
      append(shape.begin()[axis], steps);
    }
    if (rank_ == 0) append_new(1, {});
  }

  /// Returns the number of elements in a row; steps() returns, for each tensor, how many elements
  /// of the tensor these elements are apart.
  std::int64_t length() const { return dims_[rank_ - 1]; }
  const Offsets& steps() const { return steps_[rank_ - 1]; }

  /// Calls `visit(offsets)` for each row: in tensor k, the row begins at element offsets[k].
  template <class Visit>
  void for_each_row(Visit visit) const {
    if (empty_) return;
    Offsets offsets{};
    std::array<std::int64_t, Shape::max_rank> index{};
    do visit(offsets);
    while (advance(index, offsets));
  }

 private:
  void append(std::int64_t size, const Offsets& steps) {
    empty_ = empty_ || size == 0;
    if (size == 1) return;
    if (rank_ > 0 && merges(size, steps)) {
      dims_[rank_ - 1] *= size;
      steps_[rank_ - 1] = steps;
    } else {
      append_new(size, steps);
    }
  }

  void append_new(std::int64_t size, const Offsets& steps) {
    dims_[rank_] = size;
    steps_[rank_++] = steps;
  }

  bool merges(std::int64_t size, const Offsets& steps) const {
    for (std::size_t k = 0; k < K; ++k)
      if (steps_[rank_ - 1][k] != steps[k] * size) return false;
    return true;
  }

  /// Moves `index` and `offsets` to the next row. Returns false after the last row.
  bool advance(std::array<std::int64_t, Shape::max_rank>& index, Offsets& offsets) const {
    for (std::size_t axis = rank_ - 1; axis-- > 0;) {
      const bool wraps = ++index[axis] == dims_[axis];
      for (std::size_t k = 0; k < K; ++k)
        offsets[k] += steps_[axis][k] - (wraps ? steps_[axis][k] * dims_[axis] : 0);
      if (!wraps) return true;
      index[axis] = 0;
    }
    return false;
  }

  std::array<std::int64_t, Shape::max_rank> dims_{};
  std::array<Offsets, Shape::max_rank> steps_{};
  std::size_t rank_ = 0;
  bool empty_ = false;
};

}  // namespace penstock::graph
