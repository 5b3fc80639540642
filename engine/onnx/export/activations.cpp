// The activations are written as operators of their names where version 17 has them, and as their
// formulas otherwise.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/onnx/export/op_exports.hpp"
#include "graph/ops/activations/leaky_relu.hpp"
#include "graph/ops/activations/piecewise.hpp"
#include "graph/ops/activations/prelu.hpp"
#include "graph/ops/activations/smooth.hpp"
#include "graph/ops/activations/softmax.hpp"
#include "graph/ops/activations/unary.hpp"

namespace penstock {
namespace {

void silu(NodeExport& n) {
  n.result("Mul", {n.input(0), n.add("Sigmoid", {n.input(0)})});
}

/// Writes x·(1 + erf(x/√2))/2.
void gelu(NodeExport& n) {
  const std::string& x = n.input(0);
  const std::string scaled = n.add("Mul", {x, n.number(std::numbers::sqrt2 / 2)});
  const std::string share = n.add("Add", {n.add("Erf", {scaled}), n.number(1)});
  n.result("Mul", {n.add("Mul", {x, n.number(0.5)}), share});
}

/// Writes x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2.
void gelu_tanh(NodeExport& n) {
  const std::string& x = n.input(0);
  const std::string cubic =
      n.add("Mul", {n.add("Mul", {x, x}), n.add("Mul", {x, n.number(0.044715)})});
  const std::string bent =
      n.add("Mul", {n.add("Add", {x, cubic}), n.number(std::sqrt(2 / std::numbers::pi))});
  const std::string share = n.add("Add", {n.add("Tanh", {bent}), n.number(1)});
  n.result("Mul", {n.add("Mul", {x, n.number(0.5)}), share});
}

void mish(NodeExport& n) {
  n.result("Mul", {n.input(0), n.add("Tanh", {n.add("Softplus", {n.input(0)})})});
}

void logsigmoid(NodeExport& n) {
  n.result("Neg", {n.add("Softplus", {n.add("Neg", {n.input(0)})})});
}

/// Writes log(1 + exp(beta·x))/beta, and x where beta·x is above the threshold.
void softplus(NodeExport& n) {
  const double beta = n.attributes.real("beta", 1), threshold = n.attributes.real("threshold", 20);
  // Above this number, log(1 + exp(x)) is x in f32.
  constexpr double straight = 17;
  if (beta == 1 && threshold >= straight) return n.result("Softplus", n.inputs());
  const std::string scaled = n.add("Mul", {n.input(0), n.number(beta)});
  const std::string bent = n.add("Softplus", {scaled});
  if (threshold >= straight) return n.result("Div", {bent, n.number(beta)});
  const std::string above = n.add("Greater", {scaled, n.number(threshold)});
  n.result("Where", {above, n.input(0), n.add("Div", {bent, n.number(beta)})});
}

/// Writes scale·x above 0, and scale·alpha·(exp(input_scale·x) - 1) elsewhere.
void elu(NodeExport& n) {
  const double alpha = n.attributes.real("alpha", 1), scale = n.attributes.real("scale", 1);
  const double input_scale = n.attributes.real("input_scale", 1);
  const std::string& x = n.input(0);
  const OnnxSettings settings{real_setting("alpha", alpha)};
  if (input_scale == 1 && scale == 1) return n.result("Elu", {x}, settings);
  if (input_scale == 1) return n.result("Mul", {n.add("Elu", {x}, settings), n.number(scale)});
  const bool is_celu = static_cast<float>(alpha * input_scale) == 1;
  if (is_celu && scale == 1) return n.result("Celu", {x}, settings);
  const std::string below = n.add("Min", {n.add("Mul", {x, n.number(input_scale)}), n.number(0)});
  const std::string bent = n.add("Elu", {below}, settings);
  n.result("Mul", {n.add("Add", {n.add("Relu", {x}), bent}), n.number(scale)});
}

void leaky_relu(NodeExport& n) {
  n.result("LeakyRelu", n.inputs(),
           {real_setting("alpha", n.attributes.real("negative_slope", 0.01))});
}

/// The slopes belong to axis 1, so that axes of one element follow them.
void prelu(NodeExport& n) {
  Dims behind;
  for (std::int64_t axis = 1; axis < n.rank() - 1; ++axis) behind.push_back(axis);
  const bool is_one = n.size(1, 0) == 1;
  const std::string slopes =
      is_one || behind.empty() ? n.input(1) : n.unsqueezed(n.input(1), behind);
  n.result("PRelu", {n.input(0), slopes});
}

void hardtanh(NodeExport& n) {
  n.result("Clip", {n.input(0), n.number(n.attributes.real("low", -1)),
                    n.number(n.attributes.real("high", 1))});
}

void hardsigmoid(NodeExport& n) {
  n.result("HardSigmoid", n.inputs(), {real_setting("alpha", 1.0 / 6), real_setting("beta", 0.5)});
}

void shrink(NodeExport& n, double bias) {
  n.result("Shrink", n.inputs(),
           {real_setting("bias", bias), real_setting("lambd", n.attributes.real("bound", 0.5))});
}

void hardshrink(NodeExport& n) {
  shrink(n, 0);
}

void softshrink(NodeExport& n) {
  shrink(n, n.attributes.real("bound", 0.5));
}

void threshold(NodeExport& n) {
  const double threshold = n.attributes.real("threshold"), value = n.attributes.real("value");
  if (value == 0)
    return n.result("ThresholdedRelu", n.inputs(), {real_setting("alpha", threshold)});
  const std::string above = n.add("Greater", {n.input(0), n.number(threshold)});
  n.result("Where", {above, n.input(0), n.number(value)});
}

void softmax(NodeExport& n) {
  n.result("Softmax", n.inputs(), {integer_setting("axis", n.axis(-1))});
}

void log_softmax(NodeExport& n) {
  n.result("LogSoftmax", n.inputs(), {integer_setting("axis", n.axis(-1))});
}

}  // namespace

std::span<const OpExport> activation_exports() {
  static constexpr std::array<OpExport, 21> exports{{
      {&graph::elu, elu},
      {&graph::gelu, gelu},
      {&graph::gelu_tanh, gelu_tanh},
      {&graph::hardshrink, hardshrink},
      {&graph::hardsigmoid, hardsigmoid},
      {&graph::hardswish, write_same_operator},
      {&graph::hardtanh, hardtanh},
      {&graph::leaky_relu, leaky_relu},
      {&graph::log_softmax, log_softmax},
      {&graph::logsigmoid, logsigmoid},
      {&graph::mish, mish},
      {&graph::prelu, prelu},
      {&graph::relu, write_same_operator},
      {&graph::sigmoid, write_same_operator},
      {&graph::silu, silu},
      {&graph::softmax, softmax},
      {&graph::softplus, softplus},
      {&graph::softshrink, softshrink},
      {&graph::softsign, write_same_operator},
      {&graph::tanh, write_same_operator},
      {&graph::threshold, threshold},
  }};
  return exports;
}

}  // namespace penstock
