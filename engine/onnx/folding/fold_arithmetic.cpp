// The rules of operators that compute element by element, and of reductions. Integers are computed
// with 64 bits, and floats in double, each result rounded to the type of the tensor.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/onnx/folding/elements.hpp"
#include "engine/onnx/folding/fold_rules.hpp"
#include "engine/onnx/folding/places.hpp"
#include "engine/onnx/shapes/corrupt.hpp"
#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// A Binary computes a number from two numbers, and an integer from two integers.
struct Binary {
  double (*of_numbers)(double, double);
  std::int64_t (*of_integers)(std::int64_t, std::int64_t);
};

/// Integers wrap around, as in NumPy.
template <class Compute>
constexpr std::int64_t wrapped(std::int64_t a, std::int64_t b, const Compute& compute) {
  return static_cast<std::int64_t>(
      compute(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}

std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) corrupt("a division of integers by zero");
  return b == -1 ? wrapped(0, a, [](auto x, auto y) { return x - y; }) : a / b;
}

/// Returns the remainder with the sign of the divisor, as in Python.
std::int64_t remainder(std::int64_t a, std::int64_t b) {
  if (b == 0) corrupt("a division of integers by zero");
  if (b == -1) return 0;
  const std::int64_t truncated = a % b;
  return truncated != 0 && (truncated < 0) != (b < 0) ? truncated + b : truncated;
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : 0;
  std::int64_t result = 1;
  const auto product = [](auto x, auto y) { return x * y; };
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = wrapped(result, base, product);
    base = wrapped(base, base, product);
  }
  return result;
}

constexpr Binary sum{[](double a, double b) { return a + b; },
                     [](std::int64_t a, std::int64_t b) {
                       return wrapped(a, b, [](auto x, auto y) { return x + y; });
                     }};
constexpr Binary difference{[](double a, double b) { return a - b; },
                            [](std::int64_t a, std::int64_t b) {
                              return wrapped(a, b, [](auto x, auto y) { return x - y; });
                            }};
constexpr Binary product{[](double a, double b) { return a * b; },
                         [](std::int64_t a, std::int64_t b) {
                           return wrapped(a, b, [](auto x, auto y) { return x * y; });
                         }};
constexpr Binary division{[](double a, double b) { return a / b; }, quotient};
constexpr Binary modulus{[](double a, double b) { return std::fmod(a, b); }, remainder};
constexpr Binary raised{[](double a, double b) { return std::pow(a, b); }, power};
constexpr Binary smaller{[](double a, double b) { return std::isnan(a) || a < b ? a : b; },
                         [](std::int64_t a, std::int64_t b) { return std::min(a, b); }};
constexpr Binary larger{[](double a, double b) { return std::isnan(a) || a > b ? a : b; },
                        [](std::int64_t a, std::int64_t b) { return std::max(a, b); }};
constexpr Binary equal{[](double a, double b) { return a == b ? 1.0 : 0.0; },
                       [](std::int64_t a, std::int64_t b) { return std::int64_t{a == b}; }};
constexpr Binary less{[](double a, double b) { return a < b ? 1.0 : 0.0; },
                      [](std::int64_t a, std::int64_t b) { return std::int64_t{a < b}; }};
constexpr Binary less_or_equal{[](double a, double b) { return a <= b ? 1.0 : 0.0; },
                               [](std::int64_t a, std::int64_t b) { return std::int64_t{a <= b}; }};
constexpr Binary greater{[](double a, double b) { return a > b ? 1.0 : 0.0; },
                         [](std::int64_t a, std::int64_t b) { return std::int64_t{a > b}; }};
constexpr Binary greater_or_equal{
    [](double a, double b) { return a >= b ? 1.0 : 0.0; },
    [](std::int64_t a, std::int64_t b) { return std::int64_t{a >= b}; }};
constexpr Binary both{[](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; },
                      [](std::int64_t a, std::int64_t b) { return std::int64_t{a && b}; }};
constexpr Binary either{[](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; },
                        [](std::int64_t a, std::int64_t b) { return std::int64_t{a || b}; }};
constexpr Binary one_of_two{
    [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; },
    [](std::int64_t a, std::int64_t b) { return std::int64_t{(a != 0) != (b != 0)}; }};

template <class Number>
Tensor computed(const Tensor& a, const Tensor& b, DType result, Number (*compute)(Number, Number)) {
  const Dims dims = broadcast_dims(dims_of(a.shape()), dims_of(b.shape()));
  const BroadcastPlace from_a(dims_of(a.shape()), dims), from_b(dims_of(b.shape()), dims);
  const ElementReader<Number> of_a(a), of_b(b);
  return filled(result, folded_shape(dims), [&](const Dims& index) {
    return compute(of_a[from_a(index)], of_b[from_b(index)]);
  });
}

Tensor computed(const Tensor& a, const Tensor& b, DType result, const Binary& binary) {
  const bool real = a.dtype() == DType::f32 || b.dtype() == DType::f32;
  return real ? computed(a, b, result, binary.of_numbers)
              : computed(a, b, result, binary.of_integers);
}

template <const Binary& binary>
std::vector<Tensor> of_two(const FoldCall& call) {
  return {computed(call.input(0), call.input(1), call.input(0).dtype(), binary)};
}

template <const Binary& binary>
std::vector<Tensor> comparison(const FoldCall& call) {
  return {computed(call.input(0), call.input(1), DType::boolean, binary)};
}

/// Returns what `compute` makes of the first input and of each further one in turn.
template <class Number>
Tensor accumulated(const FoldCall& call, const Shape& shape, Number (*compute)(Number, Number)) {
  std::vector<BroadcastPlace> places;
  std::vector<ElementReader<Number>> elements;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    places.emplace_back(dims_of(call.input(i).shape()), dims_of(shape));
    elements.emplace_back(call.input(i));
  }
  return filled(call.input(0).dtype(), shape, [&](const Dims& index) {
    Number number = elements[0][places[0](index)];
    for (std::size_t i = 1; i < places.size(); ++i)
      number = compute(number, elements[i][places[i](index)]);
    return number;
  });
}

template <const Binary& binary>
std::vector<Tensor> of_many(const FoldCall& call) {
  Dims dims = dims_of(call.input(0).shape());
  bool real = false;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    dims = broadcast_dims(dims, dims_of(call.input(i).shape()));
    real = real || call.input(i).dtype() == DType::f32;
  }
  const Shape shape = folded_shape(dims);
  // A file may name an input any number of times, and each time costs as much as a result.
  const auto results = static_cast<std::int64_t>(call.inputs.size()) - 1;
  if (results * shape.elements() > most_folded)
    throw Error(Errc::unsupported, "its " + std::to_string(call.inputs.size()) +
                                       " inputs are known at import, and broadcast to " +
                                       to_string(shape) + " they have more than " +
                                       std::to_string(most_folded) + " elements");
  return {real ? accumulated(call, shape, binary.of_numbers)
               : accumulated(call, shape, binary.of_integers)};
}

std::vector<Tensor> remainder_of_two(const FoldCall& call) {
  if (call.integer("fmod", 0) == 0) return of_two<modulus>(call);
  static constexpr Binary truncated{[](double a, double b) { return std::fmod(a, b); },
                                    [](std::int64_t a, std::int64_t b) {
                                      if (b == 0) corrupt("a division of integers by zero");
                                      return b == -1 ? 0 : a % b;
                                    }};
  return of_two<truncated>(call);
}

/// Returns the results of `compute` for each number of a tensor.
template <double (*compute)(double)>
std::vector<Tensor> of_each(const FoldCall& call) {
  const Tensor& x = call.input(0);
  const ElementReader<double> numbers(x);
  std::size_t place = 0;
  return {filled(x.dtype(), x.shape(), [&](const Dims&) { return compute(numbers[place++]); })};
}

std::vector<Tensor> negated(const FoldCall& call) {
  const Tensor& x = call.input(0);
  return {computed(tensor_of(x.dtype(), {}, std::vector<double>{0}), x, x.dtype(), difference)};
}

double inverted(double x) {
  return x == 0 ? 1 : 0;
}

double sign_of(double x) {
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}

double reciprocal(double x) {
  return 1 / x;
}

std::vector<Tensor> cast(const FoldCall& call) {
  const Tensor& x = call.input(0);
  const auto type = static_cast<OnnxType>(call.integer("to", 0));
  switch (type) {
    case OnnxType::f32:
    case OnnxType::f64:
    case OnnxType::i32:
    case OnnxType::i64:
    case OnnxType::u8:
    case OnnxType::boolean:
      break;
    default:
      return {};
  }
  const DType dtype = type == OnnxType::i32       ? DType::i32
                      : type == OnnxType::i64     ? DType::i64
                      : type == OnnxType::u8      ? DType::u8
                      : type == OnnxType::boolean ? DType::boolean
                                                  : DType::f32;
  if (x.dtype() == dtype) return {x};
  return {x.dtype() == DType::f32 ? copied<double>(x, dtype) : copied<std::int64_t>(x, dtype)};
}

std::vector<Tensor> where(const FoldCall& call) {
  const Tensor &condition = call.input(0), &a = call.input(1), &b = call.input(2);
  if (condition.dtype() == DType::f32) corrupt("expected bools as the condition, got f32");
  if (a.dtype() != b.dtype()) corrupt("expected two tensors of one type to choose from");
  const Dims dims = broadcast_dims(broadcast_dims(dims_of(condition.shape()), dims_of(a.shape())),
                                   dims_of(b.shape()));
  const Shape shape = folded_shape(dims);
  const ElementReader<std::int64_t> flags(condition);
  const BroadcastPlace flag_of(dims_of(condition.shape()), dims), from_a(dims_of(a.shape()), dims),
      from_b(dims_of(b.shape()), dims);
  const std::size_t size = size_of(a.dtype());
  return {gathered(a.dtype(), shape, [&](const Dims& index) {
    return flags[flag_of(index)] != 0 ? a.raw() + from_a(index) * size
                                      : b.raw() + from_b(index) * size;
  })};
}

/// Returns x reduced by `compute` to the dimensions `kept`, which have 1 where an axis is reduced.
template <class Number>
Tensor reduced_to(const Tensor& x, const Dims& kept, Number (*compute)(Number, Number)) {
  const ElementReader<Number> numbers(x);
  const Dims dims = dims_of(x.shape()), strides = strides_of(dims);
  Dims reduced(dims.size(), 1), index_in_group(dims.size(), 0);
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    if (kept[axis] == 1) reduced[axis] = dims[axis];
  const auto place_of = [&](const Dims& index) {
    return std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0});
  };
  return filled(x.dtype(), Shape(kept), [&](const Dims& index) {
    const std::int64_t begin = place_of(index);
    Number result = numbers[static_cast<std::size_t>(begin)];
    bool is_first = true;
    for_each_index(reduced, index_in_group, [&](const Dims& further) {
      const Number next = numbers[static_cast<std::size_t>(begin + place_of(further))];
      if (!std::exchange(is_first, false)) result = compute(result, next);
    });
    return result;
  });
}

/// Reduces the axes of the attribute or the second input, or all of them, by `binary`.
template <const Binary& binary>
std::vector<Tensor> reduced(const FoldCall& call) {
  const Tensor& x = call.input(0);
  const std::vector<std::int64_t> axes = call.integers("axes", 1);
  const std::size_t rank = x.shape().rank();
  if (axes.empty() && call.integer("noop_with_empty_axes", 0) != 0) return {x};
  if (x.elements() == 0) return {};
  Dims kept = dims_of(x.shape());
  std::vector<bool> drops(rank, axes.empty());
  for (const std::int64_t axis : axes) drops[axis_of(axis, rank)] = true;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (drops[axis]) kept[axis] = 1;
  const Tensor result = x.dtype() == DType::f32 ? reduced_to(x, kept, binary.of_numbers)
                                                : reduced_to(x, kept, binary.of_integers);
  if (call.integer("keepdims", 1) != 0) return {result};
  Dims undropped;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (!drops[axis]) undropped.push_back(kept[axis]);
  return {result.reshaped(Shape(undropped))};
}

}  // namespace

std::span<const FoldRule> arithmetic_rules() {
  static constexpr std::array<FoldRule, 33> rules{
      {{"Abs", of_each<std::fabs>},      {"Add", of_two<sum>},
       {"And", comparison<both>},        {"Cast", cast},
       {"Ceil", of_each<std::ceil>},     {"Cos", of_each<std::cos>},
       {"Div", of_two<division>},        {"Equal", comparison<equal>},
       {"Exp", of_each<std::exp>},       {"Floor", of_each<std::floor>},
       {"Greater", comparison<greater>}, {"GreaterOrEqual", comparison<greater_or_equal>},
       {"Less", comparison<less>},       {"LessOrEqual", comparison<less_or_equal>},
       {"Log", of_each<std::log>},       {"Max", of_many<larger>},
       {"Min", of_many<smaller>},        {"Mod", remainder_of_two},
       {"Mul", of_two<product>},         {"Neg", negated},
       {"Not", of_each<inverted>},       {"Or", comparison<either>},
       {"Pow", of_two<raised>},          {"Reciprocal", of_each<reciprocal>},
       {"ReduceMax", reduced<larger>},   {"ReduceMin", reduced<smaller>},
       {"ReduceProd", reduced<product>}, {"ReduceSum", reduced<sum>},
       {"Sign", of_each<sign_of>},       {"Sqrt", of_each<std::sqrt>},
       {"Sub", of_two<difference>},      {"Where", where},
       {"Xor", comparison<one_of_two>}}};
  return rules;
}

}  // namespace penstock
