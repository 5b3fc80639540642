#include "tests/graph/ops/reference_tape.hpp"

#include "graph/ops/list.hpp"

namespace penstock::graph {

ValueId ReferenceTape::in(const std::string& name) {
  if (const auto known = inputs_.find(name); known != inputs_.end()) return known->second;
  const ValueId leaf = tape_.leaf(file_.tensors.at("in." + name));
  inputs_[name] = leaf;
  return leaf;
}

std::vector<ValueId> ReferenceTape::apply(std::string_view op, std::vector<ValueId> inputs,
                                          Attributes attributes) {
  return tape_.apply(find_op(op), std::move(inputs), std::move(attributes));
}

}  // namespace penstock::graph
