// These functions write the norms.
#include <array>
#include <limits>

#include "engine/onnx/export/op_exports.hpp"
#include "graph/ops/norms/batch_norm.hpp"
#include "graph/ops/norms/batch_norm_inference.hpp"
#include "graph/ops/norms/group_norm.hpp"
#include "graph/ops/norms/layer_norm.hpp"
#include "graph/ops/norms/rms_norm.hpp"

namespace penstock {
namespace {

constexpr double usual_eps = 1e-5;

double eps_of(const NodeExport& n) {
  return n.attributes.real("eps", usual_eps);
}

/// Returns a parameter of the channels with an axis of one element for each axis of x behind the
/// channels.
std::string beside_channels(NodeExport& n, std::size_t i) {
  Dims behind;
  for (std::int64_t axis = 1; axis < n.rank() - 1; ++axis) behind.push_back(axis);
  return behind.empty() ? n.input(i) : n.unsqueezed(n.input(i), behind);
}

void batch_norm_inference(NodeExport& n) {
  n.result("BatchNormalization", n.inputs(), {real_setting("epsilon", eps_of(n))});
}

/// Returns the axes of x apart from that of the channels.
Dims axes_beside_channels(const NodeExport& n) {
  Dims axes{0};
  for (std::int64_t axis = 2; axis < n.rank(); ++axis) axes.push_back(axis);
  return axes;
}

/// Writes a norm by the statistics of all samples.
void untracked_batch_norm(NodeExport& n) {
  const OnnxSettings means{integers_setting("axes", axes_beside_channels(n)),
                           integer_setting("keepdims", 1)};
  const std::string centered = n.add("Sub", {n.input(0), n.add("ReduceMean", {n.input(0)}, means)});
  const std::string variance = n.add("ReduceMean", {n.add("Mul", {centered, centered})}, means);
  const std::string deviation = n.add("Sqrt", {n.add("Add", {variance, n.number(eps_of(n))})});
  const std::string normal = n.add("Div", {centered, deviation});
  const std::string weight = beside_channels(n, 1), bias = beside_channels(n, 2);
  n.result("Add", {n.add("Mul", {normal, weight}), bias});
}

/// Returns ones or zeros for `count` channels.
std::string constants(NodeExport& n, std::int64_t count, float value) {
  const std::vector<float> elements(static_cast<std::size_t>(count), value);
  return n.nodes().constant(Tensor({count}, std::span<const float>(elements)));
}

/// Writes groups as the channels of an InstanceNormalization, and then what belongs to the channels
/// of x.
void group_norm(NodeExport& n) {
  const std::int64_t groups = n.attributes.integer("num_groups", 1), channels = n.size(0, 1);
  const OnnxSettings settings{real_setting("epsilon", eps_of(n))};
  const bool has_weight = n.input_count() == 3;
  if (groups == channels && n.rank() >= 3) {
    const std::string weight = has_weight ? n.input(1) : constants(n, channels, 1);
    const std::string bias = has_weight ? n.input(2) : constants(n, channels, 0);
    return n.result("InstanceNormalization", {n.input(0), weight, bias}, settings);
  }
  const std::string rows = n.reshaped(n.input(0), 1, {groups, -1});
  const std::string normal = n.add(
      "InstanceNormalization", {rows, constants(n, groups, 1), constants(n, groups, 0)}, settings);
  const std::string of_x = n.in_result_shape(normal);
  if (!has_weight) return n.result_is(of_x);
  const std::string weight = beside_channels(n, 1), bias = beside_channels(n, 2);
  n.result("Add", {n.add("Mul", {of_x, weight}), bias});
}

void layer_norm(NodeExport& n) {
  n.result("LayerNormalization", n.inputs(),
           {integer_setting("axis", -n.rank(1)), real_setting("epsilon", eps_of(n))});
}

/// Writes x/√(mean(x²) + eps)·weight.
void rms_norm(NodeExport& n) {
  const double eps = n.attributes.real("eps", double{std::numeric_limits<float>::epsilon()});
  Dims axes;
  for (std::int64_t axis = n.rank() - n.rank(1); axis < n.rank(); ++axis) axes.push_back(axis);
  const std::string& x = n.input(0);
  const std::string square =
      n.add("ReduceMean", {n.add("Mul", {x, x})},
            {integers_setting("axes", axes), integer_setting("keepdims", 1)});
  const std::string root = n.add("Sqrt", {n.add("Add", {square, n.number(eps)})});
  n.result("Mul", {n.add("Div", {x, root}), n.input(1)});
}

}  // namespace

std::span<const OpExport> norm_exports() {
  static constexpr std::array<OpExport, 5> exports{{
      {&graph::batch_norm_inference, batch_norm_inference},
      {&graph::group_norm, group_norm},
      {&graph::layer_norm, layer_norm},
      {&graph::rms_norm, rms_norm},
      {&graph::untracked_batch_norm, untracked_batch_norm},
  }};
  return exports;
}

}  // namespace penstock
