// These functions write the reductions over axes, the running sum and sorting.
#include <array>

#include "engine/onnx/export/op_exports.hpp"
#include "graph/ops/arithmetic/cumsum.hpp"
#include "graph/ops/arithmetic/logsumexp.hpp"
#include "graph/ops/arithmetic/prod.hpp"
#include "graph/ops/arithmetic/reductions.hpp"
#include "graph/ops/arithmetic/vector_norm.hpp"
#include "graph/ops/order/argmax.hpp"
#include "graph/ops/order/sort.hpp"

namespace penstock {
namespace {

/// Adds the reduction `op_type` of x over the axes of the model's node.
std::string reduced(NodeExport& n, const std::string& op_type, const std::string& x) {
  const Dims& axes = n.attributes.integers("axes");
  OnnxSettings settings{integer_setting("keepdims", n.attributes.flag("keep") ? 1 : 0)};
  if (op_type == "ReduceSum") return n.add(op_type, {x, n.list(axes)}, settings);
  settings.push_back(integers_setting("axes", axes));
  return n.add(op_type, {x}, settings);
}

/// Writes a reduction. Without axes, the model's ops reduce nothing, and those of ONNX everything.
void reduce(NodeExport& n, const std::string& op_type) {
  n.result_is(n.attributes.integers("axes").empty() ? n.input(0) : reduced(n, op_type, n.input(0)));
}

void sum(NodeExport& n) {
  reduce(n, "ReduceSum");
}

void amax(NodeExport& n) {
  reduce(n, "ReduceMax");
}

void amin(NodeExport& n) {
  reduce(n, "ReduceMin");
}

void prod(NodeExport& n) {
  reduce(n, "ReduceProd");
}

void logsumexp(NodeExport& n) {
  reduce(n, "ReduceLogSumExp");
}

void mean(NodeExport& n) {
  const std::int64_t correction = n.attributes.integer("correction");
  if (correction == 0) return reduce(n, "ReduceMean");
  double count = 1;
  for (const std::int64_t axis : n.attributes.integers("axes"))
    count *= static_cast<double>(n.size(0, axis));
  const std::string whole = reduced(n, "ReduceSum", n.input(0));
  n.result("Div", {whole, n.number(count - static_cast<double>(correction))});
}

/// Writes (Σ|x|^p)^(1/p).
void vector_norm(NodeExport& n) {
  const double p = n.attributes.real("p", 2);
  if (n.attributes.integers("axes").empty()) return n.result("Abs", n.inputs());
  if (p == 1) return reduce(n, "ReduceL1");
  if (p == 2) return reduce(n, "ReduceL2");
  const std::string power = n.add("Pow", {n.add("Abs", {n.input(0)}), n.number(p)});
  n.result("Pow", {reduced(n, "ReduceSum", power), n.number(1 / p)});
}

void cumsum(NodeExport& n) {
  const std::int64_t axis = n.axis(0);
  const std::string number =
      n.nodes().constant(Tensor({}, std::span<const std::int64_t>(&axis, 1)));
  n.result("CumSum", {n.input(0), number},
           {integer_setting("reverse", n.attributes.flag("reverse") ? 1 : 0)});
}

void index_of_extremum(NodeExport& n, const std::string& op_type) {
  n.result(op_type, n.inputs(),
           {integer_setting("axis", n.axis(0)),
            integer_setting("keepdims", n.attributes.flag("keep") ? 1 : 0)});
}

void argmax(NodeExport& n) {
  index_of_extremum(n, "ArgMax");
}

void argmin(NodeExport& n) {
  index_of_extremum(n, "ArgMin");
}

void sort(NodeExport& n) {
  const std::int64_t axis = n.axis(0);
  const std::int64_t count = n.attributes.integer("count", -1);
  n.results("TopK", {n.input(0), n.list({count >= 0 ? count : n.size(0, axis)})}, 2,
            {integer_setting("axis", axis),
             integer_setting("largest", n.attributes.flag("descending") ? 1 : 0)});
}

}  // namespace

std::span<const OpExport> reduction_exports() {
  static constexpr std::array<OpExport, 11> exports{{
      {&graph::amax, amax},
      {&graph::amin, amin},
      {&graph::argmax, argmax},
      {&graph::argmin, argmin},
      {&graph::cumsum, cumsum},
      {&graph::logsumexp, logsumexp},
      {&graph::mean, mean},
      {&graph::prod, prod},
      {&graph::sort, sort},
      {&graph::sum, sum},
      {&graph::vector_norm, vector_norm},
  }};
  return exports;
}

}  // namespace penstock
