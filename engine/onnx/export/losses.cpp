// These functions write the losses. They are called if an output of the model is a loss, or is
// computed from one.
#include <array>
#include <numeric>

#include "engine/onnx/export/op_exports.hpp"
#include "graph/ops/losses/binary_cross_entropy.hpp"
#include "graph/ops/losses/class_losses.hpp"
#include "graph/ops/losses/difference_loss.hpp"
#include "graph/ops/losses/distribution_losses.hpp"
#include "graph/ops/losses/identity_loss.hpp"
#include "graph/ops/losses/margin_losses.hpp"

namespace penstock {
namespace {

std::string reduction_of(const NodeExport& n) {
  return std::string(n.attributes.text("reduction", "mean"));
}

/// Writes the mean or the sum of the terms, or the terms themselves.
void reduced(NodeExport& n, const std::string& terms) {
  const std::string reduction = reduction_of(n);
  if (reduction == "none") return n.result_is(terms);
  n.result(reduction == "mean" ? "ReduceMean" : "ReduceSum", {terms},
           {integer_setting("keepdims", 0)});
}

std::string difference(NodeExport& n) {
  return n.add("Sub", {n.input(0), n.input(1)});
}

void identity_loss(NodeExport& n) {
  reduced(n, n.input(0));
}

void l1_loss(NodeExport& n) {
  reduced(n, n.add("Abs", {difference(n)}));
}

void mse_loss(NodeExport& n) {
  const std::string d = difference(n);
  reduced(n, n.add("Mul", {d, d}));
}

/// Writes factor·d²/2 where |d| < bound, and slope·(|d| - bound/2) elsewhere.
void bent_loss(NodeExport& n, double bound, double factor, double slope) {
  const std::string d = difference(n), size = n.add("Abs", {d});
  const std::string straight =
      n.add("Mul", {n.add("Sub", {size, n.number(bound / 2)}), n.number(slope)});
  if (bound == 0) return reduced(n, straight);
  const std::string bent = n.add("Mul", {n.add("Mul", {d, d}), n.number(factor / 2)});
  reduced(n, n.add("Where", {n.add("Less", {size, n.number(bound)}), bent, straight}));
}

void smooth_l1_loss(NodeExport& n) {
  const double beta = n.attributes.real("beta", 1);
  bent_loss(n, beta, beta == 0 ? 0 : 1 / beta, 1);
}

void huber_loss(NodeExport& n) {
  const double delta = n.attributes.real("delta", 1);
  bent_loss(n, delta, 1, delta);
}

/// Writes -t·log(x) - (1 - t)·log(1 - x). Logarithms below -100 count as -100.
void binary_cross_entropy(NodeExport& n) {
  const auto logarithm = [&](const std::string& x) {
    return n.add("Max", {n.add("Log", {x}), n.number(-100)});
  };
  const auto rest = [&](const std::string& x) { return n.add("Sub", {n.number(1), x}); };
  const std::string &x = n.input(0), &t = n.input(1);
  const std::string likely = n.add("Mul", {t, logarithm(x)});
  const std::string unlikely = n.add("Mul", {rest(t), logarithm(rest(x))});
  reduced(n, n.add("Neg", {n.add("Add", {likely, unlikely})}));
}

/// Writes log(1 + exp(x)) - t·x.
void binary_cross_entropy_with_logits(NodeExport& n) {
  const std::string &x = n.input(0), &t = n.input(1);
  reduced(n, n.add("Sub", {n.add("Softplus", {x}), n.add("Mul", {t, x})}));
}

/// Writes t·(log(t) - x), which is 0 for t = 0, or exp(t)·(t - x).
void kl_div_loss(NodeExport& n) {
  const std::string &x = n.input(0), &t = n.input(1);
  if (n.attributes.flag("log_target"))
    return reduced(n, n.add("Mul", {n.add("Exp", {t}), n.add("Sub", {t, x})}));
  const std::string own = n.add("Mul", {t, n.add("Log", {t})});
  const std::string is_zero = n.add("Equal", {t, n.number(0)});
  const std::string first = n.add("Where", {is_zero, n.number(0), own});
  reduced(n, n.add("Sub", {first, n.add("Mul", {t, x})}));
}

/// Writes log(1 + exp(-t·x)).
void soft_margin_loss(NodeExport& n) {
  reduced(n, n.add("Softplus", {n.add("Neg", {n.add("Mul", {n.input(0), n.input(1)})})}));
}

/// Returns the scores [N,...] with the axis of the classes as axis 1.
std::string with_classes_first(NodeExport& n) {
  const std::int64_t axis = n.from_front(n.attributes.integer("class_axis", 1));
  if (axis == 1) return n.input(0);
  Dims order(static_cast<std::size_t>(n.rank()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  order.erase(order.begin() + axis);
  order.insert(order.begin() + 1, axis);
  return n.transposed(n.input(0), order);
}

void class_loss(NodeExport& n, const std::string& op_type) {
  std::vector<std::string> inputs = n.inputs();
  inputs[0] = with_classes_first(n);
  n.result(op_type, inputs,
           {text_setting("reduction", reduction_of(n)),
            integer_setting("ignore_index", n.attributes.integer("ignore_index", -100))});
}

void cross_entropy(NodeExport& n) {
  if (n.attributes.real("label_smoothing") != 0) refuse_export("ONNX has no smoothing of labels");
  class_loss(n, "SoftmaxCrossEntropyLoss");
}

void nll_loss(NodeExport& n) {
  class_loss(n, "NegativeLogLikelihoodLoss");
}

}  // namespace

std::span<const OpExport> loss_exports() {
  static constexpr std::array<OpExport, 11> exports{{
      {&graph::binary_cross_entropy, binary_cross_entropy},
      {&graph::binary_cross_entropy_with_logits, binary_cross_entropy_with_logits},
      {&graph::cross_entropy, cross_entropy},
      {&graph::huber_loss, huber_loss},
      {&graph::identity_loss, identity_loss},
      {&graph::kl_div_loss, kl_div_loss},
      {&graph::l1_loss, l1_loss},
      {&graph::mse_loss, mse_loss},
      {&graph::nll_loss, nll_loss},
      {&graph::smooth_l1_loss, smooth_l1_loss},
      {&graph::soft_margin_loss, soft_margin_loss},
  }};
  return exports;
}

}  // namespace penstock
