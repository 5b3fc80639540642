// These are the activations and softmaxes of Model.
#include "engine/model/model_state.hpp"
#include "graph/ops/activations/leaky_relu.hpp"
#include "graph/ops/activations/piecewise.hpp"
#include "graph/ops/activations/smooth.hpp"
#include "graph/ops/activations/softmax.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/movement/slices.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

graph::Attributes along(int axis) {
  return {{"axis", std::int64_t{axis}}};
}

graph::Attributes within(double low, double high) {
  return {{"low", low}, {"high", high}};
}

/// Returns the size of x along `axis`, which glu() divides into halves.
/// @throws Error shape_mismatch if the size is odd, or if x has no such axis.
std::int64_t size_along(ModelState& model, const Value& x, int axis) {
  const Shape shape = model.network.graph().type(model.id("glu", x)).shape;
  const auto rank = static_cast<int>(shape.rank());
  if (axis < -rank || axis >= rank || axis == 0 || axis == -rank)
    throw Error(Errc::shape_mismatch, "glu: expected an axis of x " + to_string(shape) +
                                          " behind axis 0, which counts samples, got " +
                                          std::to_string(axis));
  if (shape[axis] % 2 != 0)
    throw Error(Errc::shape_mismatch, "glu: expected x with two halves along axis " +
                                          std::to_string(axis) + ", got " + to_string(shape));
  return shape[axis];
}

}  // namespace

Value Activations::relu(Value x) {
  return impl_->add(graph::relu, {x});
}

Value Activations::leaky_relu(Value x, double negative_slope) {
  return impl_->add(graph::leaky_relu, {x}, [&] {
    return graph::Attributes{{"negative_slope", negative_slope}};
  });
}

Value Activations::sigmoid(Value x) {
  return impl_->add(graph::sigmoid, {x});
}

Value Activations::tanh(Value x) {
  return impl_->add(graph::tanh, {x});
}

Value Activations::gelu(Value x, GeluForm form) {
  return impl_->add("gelu", form == GeluForm::exact ? graph::gelu : graph::gelu_tanh, {x});
}

Value Activations::silu(Value x) {
  return impl_->add(graph::silu, {x});
}

Value Activations::elu(Value x, double alpha) {
  return impl_->add(graph::elu, {x}, [&] { return graph::Attributes{{"alpha", alpha}}; });
}

Value Activations::selu(Value x) {
  return impl_->add("selu", graph::elu, {x}, [] {
    return graph::Attributes{{"alpha", 1.6732632423543772}, {"scale", 1.0507009873554805}};
  });
}

Value Activations::celu(Value x, double alpha) {
  return impl_->add("celu", graph::elu, {x}, [&] {
    check_f32("celu: alpha", alpha, {.above_low = true});
    return graph::Attributes{{"alpha", alpha}, {"input_scale", 1 / alpha}};
  });
}

Value Activations::softplus(Value x, double beta, double threshold) {
  return impl_->add(graph::softplus, {x}, [&] {
    return graph::Attributes{{"beta", beta}, {"threshold", threshold}};
  });
}

Value Activations::softsign(Value x) {
  return impl_->add(graph::softsign, {x});
}

Value Activations::logsigmoid(Value x) {
  return impl_->add(graph::logsigmoid, {x});
}

Value Activations::mish(Value x) {
  return impl_->add(graph::mish, {x});
}

Value Activations::relu6(Value x) {
  return impl_->add("relu6", graph::hardtanh, {x}, [] { return within(0, 6); });
}

Value Activations::hardtanh(Value x, double low, double high) {
  return impl_->add(graph::hardtanh, {x}, [&] { return within(low, high); });
}

Value Activations::hardsigmoid(Value x) {
  return impl_->add(graph::hardsigmoid, {x});
}

Value Activations::hardswish(Value x) {
  return impl_->add(graph::hardswish, {x});
}

Value Activations::hardshrink(Value x, double bound) {
  return impl_->add(graph::hardshrink, {x}, [&] { return graph::Attributes{{"bound", bound}}; });
}

Value Activations::softshrink(Value x, double bound) {
  return impl_->add(graph::softshrink, {x}, [&] { return graph::Attributes{{"bound", bound}}; });
}

Value Activations::tanhshrink(Value x) {
  return impl_->adding("tanhshrink", [&](Impl& impl) {
    NetworkBuilder::Draft draft(impl.network);
    const Value result = impl.apply(graph::sub, {x, impl.apply(graph::tanh, {x})});
    draft.keep();
    return result;
  });
}

Value Activations::threshold(Value x, double threshold, double value) {
  return impl_->add(graph::threshold, {x}, [&] {
    return graph::Attributes{{"threshold", threshold}, {"value", value}};
  });
}

Value Activations::glu(Value x, int axis) {
  return impl_->adding("glu", [&](Impl& impl) {
    const std::int64_t size = size_along(impl, x, axis);
    NetworkBuilder::Draft draft(impl.network);
    const auto part = [&](std::int64_t begin, std::int64_t end) {
      return impl.apply(graph::slice, {x}, along(axis).set("begin", begin).set("end", end));
    };
    const Value value = part(0, size / 2);
    const Value gate = impl.apply(graph::sigmoid, {part(size / 2, size)});
    const Value result = impl.apply(graph::mul, {value, gate});
    draft.keep();
    return result;
  });
}

Value Activations::softmin(Value x, int axis) {
  return impl_->adding("softmin", [&](Impl& impl) {
    NetworkBuilder::Draft draft(impl.network);
    const Value opposite = impl.apply(graph::scale, {x}, {{"factor", -1.0}});
    const Value result = impl.apply(graph::softmax, {opposite}, along(axis));
    draft.keep();
    return result;
  });
}

Value Activations::softmax(Value x, int axis) {
  return impl_->add(graph::softmax, {x}, [&] { return along(axis); });
}

Value Activations::log_softmax(Value x, int axis) {
  return impl_->add(graph::log_softmax, {x}, [&] { return along(axis); });
}

}  // namespace penstock
