// These are the operators of Value.
#include "engine/model/layers/composition.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"

namespace penstock {
namespace {

Value of_two(const graph::Op& op, const Value& a, const Value& b) {
  return ModelState::of(op.name, a)->add(op, {a, b});
}

/// Adds a tensor without axes that holds `number`, and the op of x and that number. `first` says
/// whether the number is the first operand.
Value of_number(const graph::Op& op, const Value& x, double number, bool first = false) {
  return composed(*ModelState::of(op.name, x), op.name, [&](const Composition& layer) {
    const Value constant = layer.number(number);
    return first ? layer.apply(op, {constant, x}) : layer.apply(op, {x, constant});
  });
}

/// Adds x·factor, which messages call `layer`.
Value scaled(std::string_view layer, const Value& x, double factor) {
  return ModelState::of(layer, x)->add(layer, graph::scale, {x}, [&] {
    return graph::Attributes{{"factor", factor}};
  });
}

}  // namespace

Value operator+(const Value& a, const Value& b) {
  return of_two(graph::add, a, b);
}

Value operator-(const Value& a, const Value& b) {
  return of_two(graph::sub, a, b);
}

Value operator*(const Value& a, const Value& b) {
  return of_two(graph::mul, a, b);
}

Value operator/(const Value& a, const Value& b) {
  return of_two(graph::div, a, b);
}

Value operator+(const Value& a, double b) {
  return of_number(graph::add, a, b);
}

Value operator-(const Value& a, double b) {
  return of_number(graph::sub, a, b);
}

Value operator*(const Value& a, double b) {
  return scaled(graph::mul.name, a, b);
}

Value operator/(const Value& a, double b) {
  return of_number(graph::div, a, b);
}

Value operator+(double a, const Value& b) {
  return b + a;
}

Value operator-(double a, const Value& b) {
  return of_number(graph::sub, b, a, true);
}

Value operator*(double a, const Value& b) {
  return b * a;
}

Value operator/(double a, const Value& b) {
  return of_number(graph::div, b, a, true);
}

Value operator-(const Value& x) {
  return scaled("neg", x, -1);
}

}  // namespace penstock
