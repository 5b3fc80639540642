// A model whose indices are not checked before a call fails inside of the call, with the sample of
// the bad index, as a model fails whose layers refuse what other layers have computed.
#pragma once

#include <map>
#include <string_view>

#include "engine/model/model_access.hpp"
#include "graph/ir/op.hpp"
#include "penstock/model.hpp"

namespace penstock::testing {

/// Returns `model`, whose labels and ids are checked by nothing but the kernels that read them.
inline Model without_checked_indices(Model model) {
  static std::map<std::string_view, graph::Op> unchecked;
  // A model has no public function that takes an op of a test.
  auto& graph = const_cast<graph::Graph&>(ModelAccess::graph(model));
  for (graph::Node& node : graph.nodes) {
    if (!node.op->index_ranges) continue;
    graph::Op& op = unchecked.try_emplace(node.op->name, *node.op).first->second;
    op.index_ranges = nullptr;
    node.op = &op;
  }
  return model;
}

}  // namespace penstock::testing
