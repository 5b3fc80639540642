// This is the arithmetic of Model.
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "engine/model/model_state.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/arithmetic/matmul.hpp"

namespace penstock {

Value Model::add(Value a, Value b) {
  return impl_->add(graph::add, {a, b});
}

Value Model::sub(Value a, Value b) {
  return impl_->add(graph::sub, {a, b});
}

Value Model::mul(Value a, Value b) {
  return impl_->add(graph::mul, {a, b});
}

Value Model::scale(Value x, double factor) {
  return impl_->add(graph::scale, {x}, [&] { return graph::Attributes{{"factor", factor}}; });
}

Value Model::div(Value a, Value b) {
  return impl_->add(graph::div, {a, b});
}

Value Model::minimum(Value a, Value b) {
  return impl_->add(graph::minimum, {a, b});
}

Value Model::maximum(Value a, Value b) {
  return impl_->add(graph::maximum, {a, b});
}

Value Model::equal(Value a, Value b) {
  return impl_->add(graph::equal, {a, b});
}

Value Model::less(Value a, Value b) {
  return impl_->add(graph::less, {a, b});
}

Value Model::less_equal(Value a, Value b) {
  return impl_->add(graph::less_equal, {a, b});
}

Value Model::where(Value condition, Value a, Value b) {
  return impl_->add(graph::where, {condition, a, b});
}

Value Model::neg(Value x) {
  return scale(x, -1);
}

Value Model::square(Value x) {
  return mul(x, x);
}

Value Model::pow(Value x, double exponent) {
  return impl_->add(graph::pow, {x}, [&] { return graph::Attributes{{"exponent", exponent}}; });
}

Value Model::clamp(Value x, double low, double high) {
  return impl_->add(graph::clamp, {x}, [&] {
    return graph::Attributes{{"low", low}, {"high", high}};
  });
}

Value Model::abs(Value x) {
  return impl_->add(graph::abs, {x});
}

Value Model::exp(Value x) {
  return impl_->add(graph::exp, {x});
}

Value Model::log(Value x) {
  return impl_->add(graph::log, {x});
}

Value Model::sqrt(Value x) {
  return impl_->add(graph::sqrt, {x});
}

Value Model::rsqrt(Value x) {
  return impl_->add(graph::rsqrt, {x});
}

Value Model::reciprocal(Value x) {
  return impl_->add(graph::reciprocal, {x});
}

Value Model::sin(Value x) {
  return impl_->add(graph::sin, {x});
}

Value Model::cos(Value x) {
  return impl_->add(graph::cos, {x});
}

Value Model::erf(Value x) {
  return impl_->add(graph::erf, {x});
}

Value Model::floor(Value x) {
  return impl_->add(graph::floor, {x});
}

Value Model::ceil(Value x) {
  return impl_->add(graph::ceil, {x});
}

Value Model::round(Value x) {
  return impl_->add(graph::round, {x});
}

Value Model::sign(Value x) {
  return impl_->add(graph::sign, {x});
}

Value Model::matmul(Value a, Value b) {
  return impl_->add(graph::matmul, {a, b});
}

}  // namespace penstock
