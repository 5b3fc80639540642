// The rules of operators that move elements.
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "engine/onnx/folding/elements.hpp"
#include "engine/onnx/folding/fold_rules.hpp"
#include "engine/onnx/folding/places.hpp"
#include "engine/onnx/shapes/checked_dims.hpp"
#include "engine/onnx/shapes/corrupt.hpp"
#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "engine/onnx/shapes/slice_range.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::vector<Tensor> identity(const FoldCall& call) {
  return {call.input(0)};
}

std::vector<Tensor> reshape(const FoldCall& call) {
  const Tensor& x = call.input(0);
  const Dims dims = reshaped_dims(dims_of(x.shape()), integers_of(call.input(1)),
                                  call.integer("allowzero", 0) != 0);
  return {x.reshaped(checked_shape(dims))};
}

std::vector<Tensor> flatten(const FoldCall& call) {
  const Tensor& x = call.input(0);
  return {x.reshaped(checked_shape(flattened_dims(dims_of(x.shape()), call.integer("axis", 1))))};
}

std::vector<Tensor> squeeze(const FoldCall& call) {
  const Tensor& x = call.input(0);
  return {x.reshaped(checked_shape(squeezed_dims(dims_of(x.shape()), call.integers("axes", 1))))};
}

std::vector<Tensor> unsqueeze(const FoldCall& call) {
  const Tensor& x = call.input(0);
  return {x.reshaped(checked_shape(unsqueezed_dims(dims_of(x.shape()), call.integers("axes", 1))))};
}

std::vector<Tensor> transpose(const FoldCall& call) {
  const Tensor& x = call.input(0);
  const Dims dims = dims_of(x.shape()), strides = strides_of(dims);
  Dims order = call.integers("perm", 1);
  if (order.empty())
    for (std::size_t axis = dims.size(); axis-- > 0;)
      order.push_back(static_cast<std::int64_t>(axis));
  if (order.size() != dims.size()) corrupt("expected as many axes in perm as the input has");
  Dims result, steps;
  for (const std::int64_t axis : order) {
    const std::size_t from = axis_of(axis, dims.size());
    result.push_back(dims[from]);
    steps.push_back(strides[from]);
  }
  return {gathered(x.dtype(), folded_shape(result), [&](const Dims& index) {
    const std::int64_t place =
        std::inner_product(index.begin(), index.end(), steps.begin(), std::int64_t{0});
    return x.raw() + static_cast<std::size_t>(place) * size_of(x.dtype());
  })};
}

/// Returns x with `count` elements along `axis`, of which number i is number `number_of(i)` of x.
template <class NumberOf>
Tensor selected(const Tensor& x, std::size_t axis, std::int64_t count, const NumberOf& number_of) {
  Dims dims = dims_of(x.shape());
  const Dims strides = strides_of(dims);
  dims[axis] = count;
  return gathered(x.dtype(), folded_shape(dims), [&](const Dims& index) {
    std::int64_t place = strides[axis] * number_of(index[axis]);
    for (std::size_t i = 0; i < index.size(); ++i)
      if (i != axis) place += strides[i] * index[i];
    return x.raw() + static_cast<std::size_t>(place) * size_of(x.dtype());
  });
}

std::vector<Tensor> gather(const FoldCall& call) {
  const Tensor &x = call.input(0), &numbers = call.input(1);
  const Dims dims = dims_of(x.shape());
  const std::size_t axis = axis_of(call.integer("axis", 0), dims.size());
  const std::int64_t size = dims[axis];
  if (numbers.dtype() == DType::f32) corrupt("expected integers as indices, got a tensor of f32");
  const ElementReader<std::int64_t> indices(numbers);
  for (std::int64_t i = 0; i < numbers.elements(); ++i)
    if (const std::int64_t index = indices[static_cast<std::size_t>(i)];
        index < -size || index >= size)
      corrupt("expected an index from " + std::to_string(-size) + " to " +
              std::to_string(size - 1) + ", got " + std::to_string(index));
  Dims result(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(axis));
  result.insert(result.end(), numbers.shape().begin(), numbers.shape().end());
  result.insert(result.end(), dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, dims.end());
  const auto number_of = [&](std::int64_t i) {
    const std::int64_t index = indices[static_cast<std::size_t>(i)];
    return index < 0 ? index + size : index;
  };
  return {selected(x, axis, numbers.elements(), number_of).reshaped(folded_shape(result))};
}

std::vector<Tensor> slice(const FoldCall& call) {
  const Tensor& x = call.input(0);
  const std::vector<std::int64_t> starts = call.integers("starts", 1),
                                  ends = call.integers("ends", 2),
                                  steps = call.has(4) ? integers_of(call.input(4)) : Dims{};
  std::vector<std::int64_t> axes = call.integers("axes", 3);
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      (!steps.empty() && steps.size() != starts.size()))
    corrupt("expected as many axes, ends and steps as starts");
  Dims dims = dims_of(x.shape());
  const Dims strides = strides_of(dims);
  std::vector<SliceRange> ranges;
  for (const std::int64_t size : dims) ranges.push_back(slice_range(0, size, 1, size));
  std::vector<bool> is_sliced(dims.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = axis_of(axes[i], dims.size());
    if (is_sliced[axis]) corrupt("expected axes that differ");
    is_sliced[axis] = true;
    ranges[axis] = slice_range(starts[i], ends[i], steps.empty() ? 1 : steps[i], dims[axis]);
    dims[axis] = ranges[axis].count;
  }
  const auto is_whole = [](const SliceRange& range, std::int64_t size) {
    return range.count == size && (range.step == 1 || size == 1);
  };
  if (std::ranges::equal(ranges, x.shape(), is_whole)) return {x};
  return {gathered(x.dtype(), folded_shape(dims), [&](const Dims& index) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      place += (ranges[axis].first + index[axis] * ranges[axis].step) * strides[axis];
    return x.raw() + static_cast<std::size_t>(place) * size_of(x.dtype());
  })};
}

std::vector<Tensor> concat(const FoldCall& call) {
  const Tensor& first = call.input(0);
  const std::size_t axis = axis_of(call.integer("axis", 0), first.shape().rank());
  Dims dims = dims_of(first.shape());
  dims[axis] = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& part = call.input(i);
    Dims dims_of_part = dims_of(part.shape());
    if (part.dtype() != first.dtype() || dims_of_part.size() != dims.size())
      corrupt("expected inputs of one type and as many axes");
    dims[axis] += dims_of_part[axis];
    dims_of_part[axis] = dims[axis];
    if (dims_of_part != dims) corrupt("expected inputs that differ along the axis alone");
    checked_shape(dims);
  }
  const Shape shape = folded_shape(dims);
  std::vector<Dims> strides;
  std::vector<std::int64_t> firsts;
  std::int64_t first_of_part = 0;
  for (const Tensor& part : call.inputs) {
    strides.push_back(strides_of(dims_of(part.shape())));
    firsts.push_back(first_of_part);
    first_of_part += part.shape().begin()[axis];
  }
  return {gathered(first.dtype(), shape, [&](const Dims& index) {
    const auto part = static_cast<std::size_t>(std::ranges::upper_bound(firsts, index[axis]) -
                                               firsts.begin() - 1);
    std::int64_t place = -firsts[part] * strides[part][axis];
    for (std::size_t i = 0; i < index.size(); ++i) place += index[i] * strides[part][i];
    return call.inputs[part].raw() + static_cast<std::size_t>(place) * size_of(first.dtype());
  })};
}

std::vector<Tensor> expand(const FoldCall& call) {
  const Tensor& x = call.input(0);
  const Dims dims = broadcast_dims(dims_of(x.shape()), integers_of(call.input(1)));
  if (dims == dims_of(x.shape())) return {x};
  const Shape shape = folded_shape(dims);
  const BroadcastPlace place(dims_of(x.shape()), dims);
  const std::size_t size = size_of(x.dtype());
  return {
      gathered(x.dtype(), shape, [&](const Dims& index) { return x.raw() + place(index) * size; })};
}

std::vector<Tensor> tile(const FoldCall& call) {
  const Tensor& x = call.input(0);
  const Dims from = dims_of(x.shape()), strides = strides_of(from);
  const std::vector<std::int64_t> times = integers_of(call.input(1));
  check_repeats(times, from.size());
  Dims dims = from;
  for (std::size_t axis = 0; axis < times.size(); ++axis) {
    if (times[axis] < 0 || times[axis] > most_folded)
      corrupt("expected from 0 to " + std::to_string(most_folded) + " repeats of axis " +
              std::to_string(axis) + ", got " + std::to_string(times[axis]));
    dims[axis] = checked_product(dims[axis], times[axis]);
    folded_shape(dims);
  }
  return {gathered(x.dtype(), Shape(dims), [&](const Dims& index) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      place += index[axis] % from[axis] * strides[axis];
    return x.raw() + static_cast<std::size_t>(place) * size_of(x.dtype());
  })};
}

std::vector<Tensor> split(const FoldCall& call) {
  const Tensor& x = call.input(0);
  const std::size_t axis = axis_of(call.integer("axis", 0), x.shape().rank());
  const std::vector<std::int64_t> sizes =
      split_sizes(x.shape().begin()[axis], call.integers("split", 1), call.node.outputs.size());
  std::vector<Tensor> parts;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    parts.push_back(selected(x, axis, size, [&](std::int64_t i) { return begin + i; }));
    begin += size;
  }
  return parts;
}

/// Returns the one integer of a tensor.
std::int64_t only_integer(const Tensor& tensor) {
  if (tensor.elements() != 1) corrupt("expected one integer");
  return integers_of(tensor)[0];
}

/// Keeps the lower or the upper triangle of each matrix.
std::vector<Tensor> trilu(const FoldCall& call) {
  const Tensor& x = call.input(0);
  const Dims dims = dims_of(x.shape());
  if (dims.size() < 2) corrupt("expected an input of two axes or more");
  const bool upper = call.integer("upper", 1) != 0;
  const std::int64_t diagonal = call.has(1) ? only_integer(call.input(1)) : 0;
  const std::size_t size = size_of(x.dtype());
  constexpr std::array<std::byte, sizeof(std::int64_t)> zero{};
  const std::byte* next = x.raw();
  return {gathered(x.dtype(), x.shape(), [&](const Dims& index) {
    const std::byte* const element = std::exchange(next, next + size);
    const std::int64_t column = index.back() - index[index.size() - 2];
    return (upper ? column < diagonal : column > diagonal) ? zero.data() : element;
  })};
}

}  // namespace

std::span<const FoldRule> movement_rules() {
  static constexpr std::array<FoldRule, 13> rules{{{"Concat", concat},
                                                   {"Expand", expand},
                                                   {"Flatten", flatten},
                                                   {"Gather", gather},
                                                   {"Identity", identity},
                                                   {"Reshape", reshape},
                                                   {"Slice", slice},
                                                   {"Split", split},
                                                   {"Squeeze", squeeze},
                                                   {"Tile", tile},
                                                   {"Transpose", transpose},
                                                   {"Trilu", trilu},
                                                   {"Unsqueeze", unsqueeze}}};
  return rules;
}

}  // namespace penstock
