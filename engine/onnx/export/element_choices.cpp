// These functions write the ops that choose elements by indices.
#include <array>

#include "engine/onnx/export/op_exports.hpp"
#include "graph/ops/indexing/gather.hpp"
#include "graph/ops/movement/index_select.hpp"
#include "graph/ops/sequences/embedding.hpp"

namespace penstock {
namespace {

void gather(NodeExport& n) {
  n.result("GatherElements", n.inputs(), {integer_setting("axis", n.axis(0))});
}

void scatter_add(NodeExport& n) {
  n.result("ScatterElements", n.inputs(),
           {integer_setting("axis", n.axis(0)), text_setting("reduction", "add")});
}

void index_select(NodeExport& n) {
  n.result("Gather", {n.input(0), n.list(n.attributes.integers("indices"))},
           {integer_setting("axis", n.axis(0))});
}

void embedding(NodeExport& n) {
  n.result("Gather", n.inputs(), {integer_setting("axis", 0)});
}

void one_hot(NodeExport& n) {
  const std::int64_t classes = n.attributes.integer("classes");
  const std::string depth =
      n.nodes().constant(Tensor({}, std::span<const std::int64_t>(&classes, 1)));
  n.result("OneHot", {n.input(0), depth, n.nodes().constant(Tensor({2}, {0, 1}))},
           {integer_setting("axis", -1)});
}

}  // namespace

std::span<const OpExport> element_choice_exports() {
  static constexpr std::array<OpExport, 5> exports{{
      {&graph::embedding, embedding},
      {&graph::gather, gather},
      {&graph::index_select, index_select},
      {&graph::one_hot, one_hot},
      {&graph::scatter_add, scatter_add},
  }};
  return exports;
}

}  // namespace penstock
