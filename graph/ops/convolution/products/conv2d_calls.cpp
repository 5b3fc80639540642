#include "graph/ops/convolution/products/conv2d_calls.hpp"

#include "graph/ops/activations/unary.hpp"
#include "graph/ops/convolution/products/conv2d_products.hpp"

namespace penstock::graph {
namespace {

Conv2dGeometry geometry(const Attributes& attributes, Types in, Types out) {
  return {attributes, in[0].shape, in[1].shape, out[0].shape};
}

Conv2dGeometry input_gradient_geometry(const Attributes& attributes, Types in, Types out) {
  return {attributes, out[0].shape, in[1].shape, in[0].shape};
}

Conv2dGeometry weight_gradient_geometry(const Attributes& attributes, Types in, Types out) {
  return {attributes, in[0].shape, out[0].shape, in[1].shape};
}

}  // namespace

std::int64_t conv2d_workspace(const Attributes& attributes, Types in, Types out) {
  return float_bytes * convolve_floats(geometry(attributes, in, out));
}

std::int64_t conv2d_units(const Attributes& attributes, Types in, Types out) {
  return convolve_units(geometry(attributes, in, out));
}

Cost conv2d_cost(const Attributes& attributes, Types in, Types out) {
  return geometry(attributes, in, out).cost();
}

void conv2d_forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &weight = call.inputs[1], &y = call.outputs[0];
  convolve({call.attributes, x.shape(), weight.shape(), y.shape()}, call.part, x.f32().data(),
           weight.f32().data(), call.inputs.size() == 3 ? call.inputs[2].f32().data() : nullptr,
           relu_if(attribute::relu.of(call.attributes)), y.f32().data(), floats(call.workspace));
}

std::int64_t conv2d_workspace_of_input_gradient(const Attributes& attributes, Types in, Types out) {
  return float_bytes * convolve_input_gradient_floats(input_gradient_geometry(attributes, in, out));
}

std::int64_t conv2d_units_of_input_gradient(const Attributes& attributes, Types in, Types out) {
  return convolve_input_gradient_units(input_gradient_geometry(attributes, in, out));
}

Cost conv2d_cost_of_input_gradient(const Attributes& attributes, Types in, Types out) {
  return input_gradient_geometry(attributes, in, out).cost();
}

void conv2d_forward_of_input_gradient(const KernelCall& call) {
  const Operand &dy = call.inputs[0], &weight = call.inputs[1], &dx = call.outputs[0];
  convolve_input_gradient({call.attributes, dx.shape(), weight.shape(), dy.shape()}, call.part,
                          dy.f32().data(), weight.f32().data(), dx.f32().data(),
                          floats(call.workspace));
}

std::int64_t conv2d_workspace_of_weight_gradient(const Attributes& attributes, Types in,
                                                 Types out) {
  return float_bytes *
         convolve_weight_gradient_floats(weight_gradient_geometry(attributes, in, out));
}

std::int64_t conv2d_units_of_weight_gradient(const Attributes& attributes, Types in, Types out) {
  return convolve_weight_gradient_units(weight_gradient_geometry(attributes, in, out));
}

Cost conv2d_cost_of_weight_gradient(const Attributes& attributes, Types in, Types out) {
  return weight_gradient_geometry(attributes, in, out).cost();
}

void conv2d_forward_of_weight_gradient(const KernelCall& call) {
  const Operand &x = call.inputs[0], &dy = call.inputs[1], &dweight = call.outputs[0];
  convolve_weight_gradient({call.attributes, x.shape(), dweight.shape(), dy.shape()}, call.part,
                           x.f32().data(), dy.f32().data(), dweight.f32().data(),
                           floats(call.workspace));
}

}  // namespace penstock::graph
