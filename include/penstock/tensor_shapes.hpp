// These are the functions of a Model that change the shape of tensors, or choose and move elements.
// docs/layers.md lists them beside PyTorch's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/pad_options.hpp"
#include "penstock/value.hpp"

namespace penstock {

/// A Sorted has elements in an order, and says where they were.
struct Sorted {
  Value values;   ///< These are the elements.
  Value indices;  ///< These are the indices of the elements along the axis, as i64.
};

/// TensorShapes are the methods of Model that move elements, and those that find elements. Elements
/// that are moved have any type, but scatter_add() takes no bools. Axis 0 counts the samples of a
/// micro-batch, and a negative axis counts from the end. Only transpose(), concat() and slice() may
/// work along axis 0; the other methods refuse it, because what they return for a sample may not
/// depend on the samples beside it.
class TensorShapes {
 public:
  /// Returns x with the axes from `start_axis` up to and including `end_axis` joined into one,
  /// whose size is the product of theirs. By default, these are all axes but that of the samples: x
  /// [N,...] -> [N,K].
  Value flatten(Value x, int start_axis = 1, int end_axis = -1);
  /// Returns x with the shape `[N, sample...]`. One dimension may be -1, which stands for whatever
  /// is left, and 0 keeps the dimension that x has in that place.
  Value reshape(Value x, const std::vector<std::int64_t>& sample);
  /// Returns x with its dimensions permuted: dimension i of the result is dimension `axes`[i] of x.
  Value transpose(Value x, const std::vector<std::int64_t>& axes);
  /// Returns x without `axis`, which has one element.
  Value squeeze(Value x, int axis);
  /// Returns x with a new axis of one element, which is `axis` of the result.
  Value unsqueeze(Value x, int axis);
  /// Returns x repeated to the shape `[N, sample...]`, to which it broadcasts as in NumPy; a -1
  /// keeps the dimension that x has in that place.
  Value expand(Value x, const std::vector<std::int64_t>& sample);
  /// Returns x with all elements of axis i + 1 repeated `times`[i] times, one copy behind the
  /// other.
  Value repeat(Value x, const std::vector<std::int64_t>& times);

  /// Returns `parts` joined along `axis`, one behind the other. The parts must agree in all other
  /// dimensions.
  Value concat(const std::vector<Value>& parts, int axis = 1);
  /// Returns `parts`, which have one shape, joined along a new axis, which is `axis` of the result.
  Value stack(const std::vector<Value>& parts, int axis = 1);
  /// Returns every element number `step` of the elements [begin, end) of `axis`.
  Value slice(Value x, int axis, std::int64_t begin, std::int64_t end, std::int64_t step = 1);
  /// Returns parts of `size` elements along `axis`, of which the last one may have fewer.
  std::vector<Value> split(Value x, std::int64_t size, int axis = 1);
  /// Returns parts of `sizes` elements along `axis`. The sizes add up to that of the axis.
  std::vector<Value> split(Value x, const std::vector<std::int64_t>& sizes, int axis = 1);
  /// Returns up to `count` parts along `axis`, all of one size except for the last one, which may
  /// have fewer elements.
  std::vector<Value> chunk(Value x, std::int64_t count, int axis = 1);
  /// Returns the elements of `axis`, each without that axis.
  std::vector<Value> unbind(Value x, int axis = 1);

  /// Returns x with elements around it: `widths` has two numbers for each of the last axes, how
  /// many come before and how many behind, beginning with the last axis (torch.nn.functional.pad).
  Value pad(Value x, const std::vector<std::int64_t>& widths, const PadOptions& options = {});
  /// Returns x with the elements of each of `axes` in reverse order.
  Value flip(Value x, const std::vector<int>& axes);
  /// Returns x with the elements of `axis` moved by `shift` places towards the end; those that are
  /// moved over the end come first.
  Value roll(Value x, std::int64_t shift, int axis);
  /// Returns the lower triangle of each matrix of x [N,...,R,C]: row i keeps its elements up to
  /// column i + `diagonal`, and the others are 0.
  Value tril(Value x, std::int64_t diagonal = 0);
  /// Returns the upper triangle of each matrix of x [N,...,R,C]: row i keeps its elements from
  /// column i + `diagonal` on, and the others are 0.
  Value triu(Value x, std::int64_t diagonal = 0);

  /// Returns those elements of `axis` that `indices` list, in that order.
  Value index_select(Value x, int axis, const std::vector<std::int64_t>& indices);
  /// Returns a tensor of the shape of `index`, i64 of the rank of x. Each element is that of x at
  /// the same place, except that the index is its place along `axis` (torch.gather). A call fails
  /// if an index is not one of the axis.
  Value gather(Value x, int axis, Value index);
  /// Returns x with the elements of `source`, which has the shape of `index`, added to those
  /// elements of x that gather() would return (torch.scatter_add).
  Value scatter_add(Value x, int axis, Value index, Value source);
  /// Returns f32 [...,classes] for `ids`, i64, i32 or u8 [...]: 1 at the place that the id gives,
  /// and 0 elsewhere. A call fails if an id is not from 0 to `classes` - 1.
  Value one_hot(Value ids, std::int64_t classes);

  /// Returns the index, i64, of the largest element along `axis`, and of equal ones the first. The
  /// result lacks the axis; if `keep` is true, it has the size 1 instead.
  Value argmax(Value x, int axis, bool keep = false);
  /// Returns the index of the smallest element along `axis`; see argmax().
  Value argmin(Value x, int axis, bool keep = false);
  /// Returns the elements along `axis` in order, the smallest first or, if `descending` is true,
  /// the largest first. Equal elements keep their order.
  Sorted sort(Value x, int axis = -1, bool descending = false);
  /// Returns the `k` largest elements along `axis`, the largest first, or the `k` smallest ones if
  /// `largest` is false, the smallest first. Of equal elements, the first ones are taken.
  Sorted topk(Value x, std::int64_t k, int axis = -1, bool largest = true);

 protected:
  TensorShapes() = default;

  using Impl = ModelState;  ///< The methods' sources call a ModelState so.
  std::shared_ptr<Impl>
      impl_;  ///< This is what copies of a Model share. Model's constructor sets it.
};

}  // namespace penstock
