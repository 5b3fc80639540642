// This is the arithmetic of Model.
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "engine/model/model_state.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/arithmetic/matmul.hpp"
#include "graph/ops/arithmetic/power.hpp"

namespace penstock {

Value TensorFunctions::add(Value a, Value b) {
  return impl_->add(graph::add, {a, b});
}

Value TensorFunctions::sub(Value a, Value b) {
  return impl_->add(graph::sub, {a, b});
}

Value TensorFunctions::mul(Value a, Value b) {
  return impl_->add(graph::mul, {a, b});
}

Value TensorFunctions::scale(Value x, double factor) {
  return impl_->add(graph::scale, {x}, [&] { return graph::Attributes{{"factor", factor}}; });
}

Value TensorFunctions::div(Value a, Value b) {
  return impl_->add(graph::div, {a, b});
}

Value TensorFunctions::minimum(Value a, Value b) {
  return impl_->add(graph::minimum, {a, b});
}

Value TensorFunctions::maximum(Value a, Value b) {
  return impl_->add(graph::maximum, {a, b});
}

Value TensorFunctions::where(Value condition, Value a, Value b) {
  return impl_->add(graph::where, {condition, a, b});
}

Value TensorFunctions::neg(Value x) {
  return impl_->add("neg", graph::scale, {x}, [] { return graph::Attributes{{"factor", -1.0}}; });
}

Value TensorFunctions::square(Value x) {
  return impl_->add("square", graph::mul, {x, x});
}

Value TensorFunctions::pow(Value x, double exponent) {
  return impl_->add(graph::pow, {x}, [&] { return graph::Attributes{{"exponent", exponent}}; });
}

Value TensorFunctions::pow(Value x, Value exponent) {
  return impl_->add("pow", graph::power, {x, exponent});
}

Value TensorFunctions::clamp(Value x, double low, double high) {
  return impl_->add(graph::clamp, {x}, [&] {
    return graph::Attributes{{"low", low}, {"high", high}};
  });
}

Value TensorFunctions::abs(Value x) {
  return impl_->add(graph::abs, {x});
}

Value TensorFunctions::exp(Value x) {
  return impl_->add(graph::exp, {x});
}

Value TensorFunctions::log(Value x) {
  return impl_->add(graph::log, {x});
}

Value TensorFunctions::sqrt(Value x) {
  return impl_->add(graph::sqrt, {x});
}

Value TensorFunctions::rsqrt(Value x) {
  return impl_->add(graph::rsqrt, {x});
}

Value TensorFunctions::reciprocal(Value x) {
  return impl_->add(graph::reciprocal, {x});
}

Value TensorFunctions::sin(Value x) {
  return impl_->add(graph::sin, {x});
}

Value TensorFunctions::cos(Value x) {
  return impl_->add(graph::cos, {x});
}

Value TensorFunctions::erf(Value x) {
  return impl_->add(graph::erf, {x});
}

Value TensorFunctions::floor(Value x) {
  return impl_->add(graph::floor, {x});
}

Value TensorFunctions::ceil(Value x) {
  return impl_->add(graph::ceil, {x});
}

Value TensorFunctions::round(Value x) {
  return impl_->add(graph::round, {x});
}

Value TensorFunctions::sign(Value x) {
  return impl_->add(graph::sign, {x});
}

Value TensorFunctions::matmul(Value a, Value b, bool transpose_a, bool transpose_b) {
  return impl_->add(graph::matmul, {a, b}, [&] {
    return graph::Attributes{{"transpose_a", std::int64_t{transpose_a ? 1 : 0}},
                             {"transpose_b", std::int64_t{transpose_b ? 1 : 0}}};
  });
}

}  // namespace penstock
