// These are Model's layers that take elements along axes by indices that the model knows.
#include <algorithm>
#include <numeric>

#include "engine/model/layers/composition.hpp"
#include "engine/model/layers/padding.hpp"
#include "graph/ops/movement/index_select.hpp"
#include "graph/ops/movement/slices.hpp"

namespace penstock {
namespace {

/// Returns 0 to `count` - 1.
Integers counted(std::int64_t count) {
  Integers numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  return numbers;
}

Value selected(const Composition& layer, Value x, std::size_t axis, Integers indices) {
  return layer.apply(graph::index_select, {x},
                     {{"axis", static_cast<std::int64_t>(axis)}, {"indices", std::move(indices)}});
}

}  // namespace

Value TensorShapes::slice(Value x, int axis, std::int64_t begin, std::int64_t end,
                          std::int64_t step) {
  if (step == 1)
    return impl_->add(graph::slice, {x}, [&] {
      return graph::Attributes{{"axis", std::int64_t{axis}}, {"begin", begin}, {"end", end}};
    });
  return composed(*impl_, "slice", [&](const Composition& layer) {
    const std::size_t number = layer.sample_axis(axis, x);
    const std::int64_t size = layer.shape(x)[static_cast<std::ptrdiff_t>(number)];
    layer.expect(step >= 1, "expected a step of 1 or more, got " + std::to_string(step));
    layer.expect(begin >= 0 && begin <= end && end <= size,
                 "expected 0 <= begin <= end <= " + std::to_string(size) + ", got begin " +
                     std::to_string(begin) + " and end " + std::to_string(end));
    Integers indices;
    for (std::int64_t i = begin; i < end; i += std::min(step, size)) indices.push_back(i);
    return selected(layer, x, number, std::move(indices));
  });
}

Value TensorShapes::index_select(Value x, int axis, const std::vector<std::int64_t>& indices) {
  return composed(*impl_, "index_select", [&](const Composition& layer) {
    return selected(layer, x, layer.sample_axis(axis, x), indices);
  });
}

Value TensorShapes::flip(Value x, const std::vector<int>& axes) {
  return composed(*impl_, "flip", [&](const Composition& layer) {
    Value result = x;
    for (const int axis : axes) {
      const std::size_t number = layer.sample_axis(axis, x);
      Integers indices = counted(layer.shape(x)[static_cast<std::ptrdiff_t>(number)]);
      std::ranges::reverse(indices);
      result = selected(layer, result, number, std::move(indices));
    }
    return result;
  });
}

Value TensorShapes::roll(Value x, std::int64_t shift, int axis) {
  return composed(*impl_, "roll", [&](const Composition& layer) {
    const std::size_t number = layer.sample_axis(axis, x);
    Integers indices = counted(layer.shape(x)[static_cast<std::ptrdiff_t>(number)]);
    const std::int64_t size = std::ssize(indices);
    if (size > 0)
      std::rotate(indices.begin(), indices.end() - (shift % size + size) % size, indices.end());
    return selected(layer, x, number, std::move(indices));
  });
}

Value TensorShapes::repeat(Value x, const std::vector<std::int64_t>& times) {
  return composed(*impl_, "repeat", [&](const Composition& layer) {
    const Shape dims = layer.shape(x);
    layer.expect(times.size() + 1 == dims.rank(),
                 "expected a number for each axis behind axis 0 of x " + to_string(dims) +
                     ", got " + std::to_string(times.size()) + " in all");
    Value result = x;
    for (std::size_t i = 0; i < times.size(); ++i) {
      layer.expect(times[i] >= 1,
                   "expected each axis 1 time or more, got " + std::to_string(times[i]));
      if (times[i] == 1) continue;
      const Integers once = counted(dims.begin()[i + 1]);
      Integers indices;
      for (std::int64_t n = 0; n < times[i]; ++n)
        indices.insert(indices.end(), once.begin(), once.end());
      result = selected(layer, result, i + 1, std::move(indices));
    }
    return result;
  });
}

Value TensorShapes::pad(Value x, const std::vector<std::int64_t>& widths,
                        const PadOptions& options) {
  return composed(*impl_, "pad", [&](const Composition& layer) {
    const Shape dims = layer.shape(x);
    layer.expect(
        widths.size() % 2 == 0 && widths.size() / 2 < std::max<std::size_t>(dims.rank(), 1),
        "expected two widths for each of the last axes behind axis 0 of x " + to_string(dims) +
            ", got " + std::to_string(widths.size()) + " in all");
    for (const std::int64_t width : widths)
      layer.expect(width >= 0, "expected widths of 0 or more, got " + std::to_string(width));
    Value result = x;
    for (std::size_t i = 0; i < widths.size() / 2; ++i)
      result =
          padded(layer, result, dims.rank() - 1 - i, {widths[2 * i], widths[2 * i + 1]}, options);
    return result;
  });
}

}  // namespace penstock
