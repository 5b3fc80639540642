#include "engine/model/matching_variables.hpp"

#include "engine/names/name_pattern.hpp"

namespace penstock {

std::vector<std::size_t> matching_variables(const graph::Graph& graph, graph::ValueKind kind,
                                            std::string_view pattern, const std::string& subject) {
  std::vector<std::size_t> positions;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < graph.variables.size(); ++i) {
    const graph::Value& value = graph.value(graph.variables[i].value);
    if (value.kind != kind) continue;
    positions.push_back(i);
    names.push_back(value.name);
  }
  const std::string what =
      kind == graph::ValueKind::buffer ? ": there is no buffer" : ": there is no parameter";
  std::vector<std::size_t> chosen = expect_matches(pattern, names, subject + what);
  for (std::size_t& position : chosen) position = positions[position];
  return chosen;
}

}  // namespace penstock
