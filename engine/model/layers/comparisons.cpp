// These are the comparisons of Model, of two values or of a value and a number.
#include "engine/model/layers/composition.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"

namespace penstock {
namespace {

/// A Comparison says by which op a comparison is computed.
struct Comparison {
  std::string_view name;
  const graph::Op& op;
  bool swapped = false;   ///< The op compares b with a.
  bool opposite = false;  ///< The result is 1 where that of the op is 0.
};

const Comparison equals{.name = "equal", .op = graph::equal};
const Comparison differs{.name = "not_equal", .op = graph::equal, .opposite = true};
const Comparison is_less{.name = "less", .op = graph::less};
const Comparison is_at_most{.name = "less_equal", .op = graph::less_equal};
const Comparison is_greater{.name = "greater", .op = graph::less, .swapped = true};
const Comparison is_at_least{.name = "greater_equal", .op = graph::less_equal, .swapped = true};

Value compared(const Composition& layer, const Comparison& by, const Value& a, const Value& b) {
  const Value result = by.swapped ? layer.apply(by.op, {b, a}) : layer.apply(by.op, {a, b});
  return by.opposite ? layer.apply(graph::sub, {layer.number(1), result}) : result;
}

Value compared(ModelState& model, const Comparison& by, const Value& a, const Value& b) {
  return composed(model, by.name,
                  [&](const Composition& layer) { return compared(layer, by, a, b); });
}

Value compared(ModelState& model, const Comparison& by, const Value& a, double b) {
  return composed(model, by.name, [&](const Composition& layer) {
    return compared(layer, by, a, layer.number(b));
  });
}

}  // namespace

Value TensorFunctions::equal(Value a, Value b) {
  return compared(*impl_, equals, a, b);
}

Value TensorFunctions::equal(Value a, double b) {
  return compared(*impl_, equals, a, b);
}

Value TensorFunctions::not_equal(Value a, Value b) {
  return compared(*impl_, differs, a, b);
}

Value TensorFunctions::not_equal(Value a, double b) {
  return compared(*impl_, differs, a, b);
}

Value TensorFunctions::less(Value a, Value b) {
  return compared(*impl_, is_less, a, b);
}

Value TensorFunctions::less(Value a, double b) {
  return compared(*impl_, is_less, a, b);
}

Value TensorFunctions::less_equal(Value a, Value b) {
  return compared(*impl_, is_at_most, a, b);
}

Value TensorFunctions::less_equal(Value a, double b) {
  return compared(*impl_, is_at_most, a, b);
}

Value TensorFunctions::greater(Value a, Value b) {
  return compared(*impl_, is_greater, a, b);
}

Value TensorFunctions::greater(Value a, double b) {
  return compared(*impl_, is_greater, a, b);
}

Value TensorFunctions::greater_equal(Value a, Value b) {
  return compared(*impl_, is_at_least, a, b);
}

Value TensorFunctions::greater_equal(Value a, double b) {
  return compared(*impl_, is_at_least, a, b);
}

}  // namespace penstock
