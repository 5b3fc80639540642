#include "graph/ops/rules/indices.hpp"

#include <string>

#include "penstock/error.hpp"

namespace penstock::graph {

std::int64_t checked_index(std::span<const std::int64_t> indices, std::size_t i, std::int64_t end,
                           std::string_view element) {
  if (indices[i] >= 0 && indices[i] < end) return indices[i];
  throw Error(Errc::invalid_data, std::string(element) + " " + std::to_string(indices[i]) +
                                      " at position " + std::to_string(i) + ": expected 0 to " +
                                      std::to_string(end - 1));
}

void fill_indices(const Operand& indices, std::int64_t end) {
  std::int64_t number = 0;
  for (std::int64_t& index : indices.i64()) index = end > 0 ? number++ % end : 0;
}

}  // namespace penstock::graph
