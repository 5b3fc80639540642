// These are Model's layers that change shapes, cut and join.
#include <algorithm>

#include "engine/model/layers/composition.hpp"
#include "graph/ops/arithmetic/expand.hpp"
#include "graph/ops/movement/concat.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/movement/slices.hpp"
#include "graph/ops/movement/squeeze.hpp"
#include "graph/ops/movement/triangles.hpp"

namespace penstock {
namespace {

std::int64_t length(const Composition& layer, Value x, std::size_t axis) {
  return layer.shape(x)[static_cast<std::ptrdiff_t>(axis)];
}

/// Returns x without axis number `axis`, which must have one element.
Value squeezed(const Composition& layer, Value x, std::size_t axis) {
  return layer.apply(graph::squeeze, {x}, {{"axis", static_cast<std::int64_t>(axis)}});
}

/// Returns x with a new axis of one element, whose number in the result is `axis`.
Value unsqueezed(const Composition& layer, Value x, int axis) {
  const std::size_t number = layer.sample_axis(axis, layer.shape(x).rank() + 1);
  return layer.apply(graph::unsqueeze, {x}, {{"axis", static_cast<std::int64_t>(number)}});
}

std::vector<Value> parts_of(const Composition& layer, Value x, std::size_t axis,
                            const Integers& sizes) {
  std::vector<Value> parts;
  std::int64_t begin = 0;
  const std::int64_t whole = length(layer, x, axis);
  for (const std::int64_t size : sizes) {
    layer.expect(size >= 0 && size <= whole - begin,
                 "expected sizes that add up to " + std::to_string(whole) + " along axis " +
                     std::to_string(axis) + " of x " + to_string(layer.shape(x)) + ", got " +
                     std::to_string(size) + " behind element " + std::to_string(begin));
    parts.push_back(layer.apply(
        graph::slice, {x},
        {{"axis", static_cast<std::int64_t>(axis)}, {"begin", begin}, {"end", begin + size}}));
    begin += size;
  }
  layer.expect(begin == whole, "expected sizes that add up to " + std::to_string(whole) +
                                   " along axis " + std::to_string(axis) + " of x " +
                                   to_string(layer.shape(x)) + ", got a sum of " +
                                   std::to_string(begin));
  return parts;
}

/// Returns the parts of x of `size` elements along an axis; the last part may have fewer.
std::vector<Value> even_parts(const Composition& layer, Value x, std::size_t axis,
                              std::int64_t size) {
  Integers sizes;
  for (std::int64_t remaining = length(layer, x, axis); remaining > 0; remaining -= sizes.back())
    sizes.push_back(std::min(size, remaining));
  return parts_of(layer, x, axis, sizes);
}

Value triangle_of(const Composition& layer, const graph::Op& op, Value x, std::int64_t diagonal) {
  layer.expect(layer.shape(x).rank() >= 3,
               "expected x with two axes behind axis 0, which counts samples, got " +
                   to_string(layer.shape(x)));
  return layer.apply(op, {x}, {{"diagonal", diagonal}});
}

}  // namespace

Value TensorShapes::flatten(Value x, int start_axis, int end_axis) {
  return composed(*impl_, "flatten", [&](const Composition& layer) {
    const std::size_t start = layer.sample_axis(start_axis, x);
    const std::size_t end = layer.sample_axis(end_axis, x);
    graph::Attributes attributes;
    // What is the default stays unsaid, so that such a node is what it was in older versions.
    if (start != 1) attributes.set("start_axis", static_cast<std::int64_t>(start));
    if (end + 1 != layer.shape(x).rank())
      attributes.set("end_axis", static_cast<std::int64_t>(end));
    return layer.apply(graph::flatten, {x}, std::move(attributes));
  });
}

Value TensorShapes::reshape(Value x, const std::vector<std::int64_t>& sample) {
  return impl_->add(graph::reshape, {x}, [&] {
    std::vector<std::int64_t> dims{0};  // A 0 keeps the number of samples.
    dims.insert(dims.end(), sample.begin(), sample.end());
    return graph::Attributes{{"shape", std::move(dims)}};
  });
}

Value TensorShapes::transpose(Value x, const std::vector<std::int64_t>& axes) {
  return impl_->add(graph::transpose, {x}, [&] { return graph::Attributes{{"axes", axes}}; });
}

Value TensorShapes::concat(const std::vector<Value>& parts, int axis) {
  return impl_->adding(graph::concat.name, [&](Impl& impl) {
    return impl.apply(graph::concat, parts, {{"axis", std::int64_t{axis}}});
  });
}

Value TensorShapes::expand(Value x, const std::vector<std::int64_t>& sample) {
  return impl_->add(graph::expand, {x}, [&] {
    Integers dims{-1};  // A -1 keeps the number of samples.
    dims.insert(dims.end(), sample.begin(), sample.end());
    return graph::Attributes{{"shape", std::move(dims)}};
  });
}

Value TensorShapes::squeeze(Value x, int axis) {
  return composed(*impl_, "squeeze", [&](const Composition& layer) {
    return squeezed(layer, x, layer.sample_axis(axis, x));
  });
}

Value TensorShapes::unsqueeze(Value x, int axis) {
  return composed(*impl_, "unsqueeze",
                  [&](const Composition& layer) { return unsqueezed(layer, x, axis); });
}

std::vector<Value> TensorShapes::split(Value x, const std::vector<std::int64_t>& sizes, int axis) {
  return composed(*impl_, "split", [&](const Composition& layer) {
    return parts_of(layer, x, layer.sample_axis(axis, x), sizes);
  });
}

std::vector<Value> TensorShapes::split(Value x, std::int64_t size, int axis) {
  return composed(*impl_, "split", [&](const Composition& layer) {
    layer.expect(size >= 1, "expected parts of 1 element or more, got " + std::to_string(size));
    return even_parts(layer, x, layer.sample_axis(axis, x), size);
  });
}

std::vector<Value> TensorShapes::chunk(Value x, std::int64_t count, int axis) {
  return composed(*impl_, "chunk", [&](const Composition& layer) {
    layer.expect(count >= 1, "expected 1 part or more, got " + std::to_string(count));
    const std::size_t number = layer.sample_axis(axis, x);
    const std::int64_t size = length(layer, x, number);
    return even_parts(layer, x, number, size / count + (size % count > 0 ? 1 : 0));
  });
}

std::vector<Value> TensorShapes::unbind(Value x, int axis) {
  return composed(*impl_, "unbind", [&](const Composition& layer) {
    const std::size_t number = layer.sample_axis(axis, x);
    std::vector<Value> parts = even_parts(layer, x, number, 1);
    for (Value& part : parts) part = squeezed(layer, part, number);
    return parts;
  });
}

Value TensorShapes::stack(const std::vector<Value>& parts, int axis) {
  return composed(*impl_, "stack", [&](const Composition& layer) {
    layer.expect(!parts.empty(), "expected 1 value or more, got 0");
    std::vector<Value> rows;
    for (const Value& part : parts) rows.push_back(unsqueezed(layer, part, axis));
    const std::size_t rank = layer.shape(rows.front()).rank();
    return layer.apply(graph::concat, rows,
                       {{"axis", static_cast<std::int64_t>(layer.sample_axis(axis, rank))}});
  });
}

Value TensorShapes::tril(Value x, std::int64_t diagonal) {
  return composed(*impl_, "tril", [&](const Composition& layer) {
    return triangle_of(layer, graph::tril, x, diagonal);
  });
}

Value TensorShapes::triu(Value x, std::int64_t diagonal) {
  return composed(*impl_, "triu", [&](const Composition& layer) {
    return triangle_of(layer, graph::triu, x, diagonal);
  });
}

Value TensorFunctions::stop_gradient(Value x) {
  return impl_->add(graph::stop_gradient, {x});
}

}  // namespace penstock
