// The operators that compute element by element, with broadcasting.
#include "graph/ops/arithmetic/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/onnx/folding/fold_call.hpp"
#include "engine/onnx/format/tensor_values.hpp"
#include "engine/onnx/import/operators.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/arithmetic/power.hpp"

namespace penstock {
namespace {

template <const graph::Op& op>
Results of_two(NodeImport& n) {
  const auto [values, placement] = n.network.aligned({&n.input(0), &n.input(1)});
  return {n.result(n.apply(op, values), n.input(0).type, placement)};
}

template <const graph::Op& op>
Results comparison(NodeImport& n) {
  const auto [values, placement] = n.network.aligned({&n.input(0), &n.input(1)});
  return {n.result(n.apply(op, values), OnnxType::boolean, placement)};
}

/// Compares the operands in the other order.
template <const graph::Op& op>
Results swapped_comparison(NodeImport& n) {
  const auto [values, placement] = n.network.aligned({&n.input(0), &n.input(1)});
  return {n.result(n.apply(op, {values[1], values[0]}), OnnxType::boolean, placement)};
}

/// Returns x without its fraction.
Value truncated(NodeImport& n, const Value& x) {
  return n.apply(graph::mul,
                 {n.apply(graph::sign, {x}), n.apply(graph::floor, {n.apply(graph::abs, {x})})});
}

Results div(NodeImport& n) {
  const auto [values, placement] = n.network.aligned({&n.input(0), &n.input(1)});
  const Value quotient = n.apply(graph::div, values);
  const OnnxType type = n.input(0).type;
  return {n.result(is_float(type) ? quotient : truncated(n, quotient), type, placement)};
}

/// Returns the remainder: with the sign of the divisor, or of the dividend with the flag `fmod`.
Results mod(NodeImport& n) {
  const auto [values, placement] = n.network.aligned({&n.input(0), &n.input(1)});
  const Value quotient = n.apply(graph::div, values);
  const Value whole = n.flag("fmod") ? truncated(n, quotient) : n.apply(graph::floor, {quotient});
  const Value difference =
      n.apply(graph::sub, {values[0], n.apply(graph::mul, {whole, values[1]})});
  return {n.result(difference, n.input(0).type, placement)};
}

Results pow(NodeImport& n) {
  Imported& exponent = n.input(1);
  if (exponent.is_constant() && !exponent.trainable && exponent.known[0].elements() == 1 &&
      n.rank(1) <= n.rank(0)) {
    const double number = n.known_number(1);
    const Value x = n.value(0);
    return {n.like_first(number == 2 ? n.apply(graph::mul, {x, x})
                                     : n.apply(graph::pow, {x}, {{"exponent", number}}))};
  }
  return of_two<graph::power>(n);
}

/// Applies the op to the first two inputs, and then to each result and the next input. The sources
/// of the inputs are joined once, at the end, because a node may have any number of inputs.
template <const graph::Op& op>
Results of_many(NodeImport& n) {
  Imported result = n.input(0);
  if (n.input_count() == 1) return {result};
  for (std::size_t i = 1; i < n.input_count(); ++i) {
    const auto [values, placement] = n.network.aligned({&result, &n.input(i)});
    result = {.type = result.type, .value = n.apply(op, values), .placement = placement};
  }
  return {n.result(result.value, result.type, result.placement)};
}

Results mean(NodeImport& n) {
  Imported sum = of_many<graph::add>(n)[0];
  const double count = static_cast<double>(n.input_count());
  return {n.result(n.apply(graph::scale, {n.network.value(sum)}, {{"factor", 1 / count}}), sum.type,
                   sum.placement)};
}

/// Returns 1 where a value of the model that stands for a bool is not 0.
Value truth(NodeImport& n, const Value& x) {
  const Value zero = n.apply(graph::fill, {}, {{"value", 0.0}});
  return n.apply(graph::sub,
                 {n.apply(graph::fill, {}, {{"value", 1.0}}), n.apply(graph::equal, {x, zero})});
}

Value opposite(NodeImport& n, const Value& x) {
  return n.apply(graph::equal, {x, n.apply(graph::fill, {}, {{"value", 0.0}})});
}

Results logical_not(NodeImport& n) {
  return {n.like_first(opposite(n, n.value(0)))};
}

// Bools are 0 and 1, so that a product is "and", and the larger one is "or".
Results logical_xor(NodeImport& n) {
  const auto [values, placement] = n.network.aligned({&n.input(0), &n.input(1)});
  return {n.result(opposite(n, n.apply(graph::equal, values)), OnnxType::boolean, placement)};
}

Results where(NodeImport& n) {
  const auto [values, placement] = n.network.aligned({&n.input(0), &n.input(1), &n.input(2)});
  return {n.result(n.apply(graph::where, values), n.input(1).type, placement)};
}

Results neg(NodeImport& n) {
  return {n.like_first(n.apply(graph::scale, {n.value(0)}, {{"factor", -1.0}}))};
}

Results identity(NodeImport& n) {
  return {n.input(0)};
}

/// Returns input 0 as a value of another type. Integers and bools are floats in the model where
/// they are computed.
Imported cast_to(NodeImport& n, OnnxType to) {
  Imported x = n.input(0);
  const auto is_one_of = [](OnnxType type, std::initializer_list<OnnxType> types) {
    return std::ranges::find(types, type) != types.end();
  };
  n.expect_supported(
      is_one_of(to,
                {OnnxType::f32, OnnxType::f64, OnnxType::i32, OnnxType::i64, OnnxType::boolean}),
      "it casts to " + to_string(to) +
          ", and there are casts to float, double, int32, int64 and bool alone, and to uint8 of "
          "what is known at import");
  if (to == x.type) return x;
  if (to == OnnxType::boolean) return n.result(truth(n, n.value(0)), to, x.placement);
  if (is_float(x.type) && !is_float(to)) return n.result(truncated(n, n.value(0)), to, x.placement);
  // Among integers the numbers stay, and so does the type that the model has for them.
  const bool stays = !is_float(to) && !x.is_known();
  return n.result(stays ? x.value : n.value(0), to, x.placement);
}

Results cast(NodeImport& n) {
  return {cast_to(n, static_cast<OnnxType>(n.integer("to", 0)))};
}

/// Returns x as a value of the type of the second input.
Results cast_like(NodeImport& n) {
  return {cast_to(n, n.input(1).type)};
}

Results is_inf(NodeImport& n) {
  const Value x = n.value(0);
  constexpr double largest = std::numeric_limits<float>::max();
  const Value above = n.apply(graph::less, {n.network.number(largest), x});
  const Value below = n.apply(graph::less, {x, n.network.number(-largest)});
  const bool up = n.flag("detect_positive", true), down = n.flag("detect_negative", true);
  const Value found = up && down ? n.apply(graph::maximum, {above, below})
                      : up       ? above
                      : down     ? below
                                 : n.apply(graph::less, {x, x});
  return {n.result(found, OnnxType::boolean, n.input(0).placement)};
}

Results tan(NodeImport& n) {
  const Value x = n.value(0);
  return {n.like_first(n.apply(graph::div, {n.apply(graph::sin, {x}), n.apply(graph::cos, {x})}))};
}

/// Returns half of the sum or of the difference of exp(x) and exp(-x).
template <const graph::Op& op>
Results hyperbolic(NodeImport& n) {
  const Value x = n.value(0);
  const Value opposite = n.apply(graph::scale, {x}, {{"factor", -1.0}});
  const Value both = n.apply(op, {n.apply(graph::exp, {x}), n.apply(graph::exp, {opposite})});
  return {n.like_first(n.apply(graph::scale, {both}, {{"factor", 0.5}}))};
}

/// Returns log(x + sqrt(x² + `shift`)), which is asinh(x) for a shift of 1 and acosh(x) for one of
/// -1.
Value area_of(NodeImport& n, const Value& x, double shift) {
  const Value square = n.apply(graph::add, {n.apply(graph::mul, {x, x}), n.network.number(shift)});
  return n.apply(graph::log, {n.apply(graph::add, {x, n.apply(graph::sqrt, {square})})});
}

// The logarithm is exact for positive numbers alone, and the function is odd.
Results asinh(NodeImport& n) {
  const Value x = n.value(0);
  const Value positive = area_of(n, n.apply(graph::abs, {x}), 1);
  return {n.like_first(n.apply(graph::mul, {n.apply(graph::sign, {x}), positive}))};
}

Results acosh(NodeImport& n) {
  return {n.like_first(area_of(n, n.value(0), -1))};
}

Results atanh(NodeImport& n) {
  const Value x = n.value(0), one = n.network.number(1);
  const Value ratio =
      n.apply(graph::div, {n.apply(graph::add, {one, x}), n.apply(graph::sub, {one, x})});
  return {n.like_first(n.apply(graph::scale, {n.apply(graph::log, {ratio})}, {{"factor", 0.5}}))};
}

Results is_nan(NodeImport& n) {
  const Value x = n.value(0);
  return {n.result(opposite(n, n.apply(graph::equal, {x, x})), OnnxType::boolean,
                   n.input(0).placement)};
}

}  // namespace

std::span<const OnnxOperator> arithmetic_operators() {
  static constexpr std::array<OnnxOperator, 44> operators{{
      {"Abs", of_each<graph::abs>},
      {"Acosh", acosh},
      {"Add", of_two<graph::add>},
      {"And", comparison<graph::mul>},
      {"Asinh", asinh},
      {"Atanh", atanh},
      {"Cast", cast},
      {"CastLike", cast_like},
      {"Ceil", of_each<graph::ceil>},
      {"Cos", of_each<graph::cos>},
      {"Cosh", hyperbolic<graph::add>},
      {"Div", div},
      {"Equal", comparison<graph::equal>},
      {"Erf", of_each<graph::erf>},
      {"Exp", of_each<graph::exp>},
      {"Floor", of_each<graph::floor>},
      {"Greater", swapped_comparison<graph::less>},
      {"GreaterOrEqual", swapped_comparison<graph::less_equal>},
      {"Identity", identity},
      {"IsInf", is_inf},
      {"IsNaN", is_nan},
      {"Less", comparison<graph::less>},
      {"LessOrEqual", comparison<graph::less_equal>},
      {"Log", of_each<graph::log>},
      {"Max", of_many<graph::maximum>},
      {"Mean", mean},
      {"Min", of_many<graph::minimum>},
      {"Mod", mod},
      {"Mul", of_two<graph::mul>},
      {"Neg", neg},
      {"Not", logical_not},
      {"Or", comparison<graph::maximum>},
      {"Pow", pow},
      {"Reciprocal", of_each<graph::reciprocal>},
      {"Round", of_each<graph::round>},
      {"Sign", of_each<graph::sign>},
      {"Sin", of_each<graph::sin>},
      {"Sinh", hyperbolic<graph::sub>},
      {"Sqrt", of_each<graph::sqrt>},
      {"Sub", of_two<graph::sub>},
      {"Sum", of_many<graph::add>},
      {"Tan", tan},
      {"Where", where},
      {"Xor", logical_xor},
  }};
  return operators;
}

}  // namespace penstock
