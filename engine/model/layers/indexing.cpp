// These are Model's layers that find elements, or move elements by indices that are values.
#include "engine/model/layers/composition.hpp"
#include "graph/ops/indexing/gather.hpp"
#include "graph/ops/order/argmax.hpp"
#include "graph/ops/order/sort.hpp"

namespace penstock {
namespace {

/// Returns the attributes of an op along `axis`, which does not count the samples.
graph::Attributes along(const Composition& layer, int axis, Value x) {
  return {{"axis", static_cast<std::int64_t>(layer.sample_axis(axis, x))}};
}

/// Returns the index of an extremum, which `op` finds.
Value index_of_extremum(ModelState& impl, const graph::Op& op, Value x, int axis, bool keep) {
  return composed(impl, op.name, [&](const Composition& layer) {
    return layer.apply(op, {x}, along(layer, axis, x).set("keep", std::int64_t{keep ? 1 : 0}));
  });
}

/// Returns the first `count` elements of x in their order.
Sorted sorted(const Composition& layer, Value x, int axis, bool descending, std::int64_t count) {
  const Value values = layer.apply(graph::sort, {x},
                                   along(layer, axis, x)
                                       .set("descending", std::int64_t{descending ? 1 : 0})
                                       .set("count", count));
  return {.values = values, .indices = layer.other_output(values, 1)};
}

}  // namespace

Value TensorShapes::gather(Value x, int axis, Value index) {
  return composed(*impl_, "gather", [&](const Composition& layer) {
    return layer.apply(graph::gather, {x, index}, along(layer, axis, x));
  });
}

Value TensorShapes::scatter_add(Value x, int axis, Value index, Value source) {
  return composed(*impl_, "scatter_add", [&](const Composition& layer) {
    return layer.apply(graph::scatter_add, {x, index, source}, along(layer, axis, x));
  });
}

Value TensorShapes::one_hot(Value ids, std::int64_t classes) {
  return impl_->add(graph::one_hot, {ids}, [&] { return graph::Attributes{{"classes", classes}}; });
}

Value TensorShapes::argmax(Value x, int axis, bool keep) {
  return index_of_extremum(*impl_, graph::argmax, x, axis, keep);
}

Value TensorShapes::argmin(Value x, int axis, bool keep) {
  return index_of_extremum(*impl_, graph::argmin, x, axis, keep);
}

Sorted TensorShapes::sort(Value x, int axis, bool descending) {
  return composed(*impl_, "sort", [&](const Composition& layer) {
    const std::size_t number = layer.sample_axis(axis, x);
    return sorted(layer, x, axis, descending, layer.shape(x)[static_cast<std::ptrdiff_t>(number)]);
  });
}

Sorted TensorShapes::topk(Value x, std::int64_t k, int axis, bool largest) {
  return composed(*impl_, "topk", [&](const Composition& layer) {
    const std::size_t number = layer.sample_axis(axis, x);
    const std::int64_t size = layer.shape(x)[static_cast<std::ptrdiff_t>(number)];
    layer.expect(k >= 1 && k <= size, "expected a k from 1 to " + std::to_string(size) +
                                          " along axis " + std::to_string(number) + " of x " +
                                          to_string(layer.shape(x)) + ", got " + std::to_string(k));
    return sorted(layer, x, axis, largest, k);
  });
}

}  // namespace penstock
