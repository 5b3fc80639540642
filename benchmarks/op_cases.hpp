// The calls of single ops that op_benchmark measures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/attributes.hpp"
#include "graph/graph.hpp"

namespace penstock::benchmarks {

struct OpCase {
  std::string name;
  std::string op;
  std::vector<graph::TensorType> inputs;
  std::int64_t images;
  graph::Attributes attributes = {};
};

/// Convolutions with few channels, as the networks have them, and their poolings, in both layouts;
/// convolutions with many; dense layers.
std::vector<OpCase> op_cases();

}  // namespace penstock::benchmarks
