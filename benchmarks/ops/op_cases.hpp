// These are the calls of single ops that the benchmarks measure. Some of them have goals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/ir/attributes.hpp"
#include "graph/ir/graph.hpp"

namespace penstock::benchmarks {

struct OpCase {
  std::string name;
  std::string op;
  std::vector<graph::TensorType> inputs;
  std::int64_t images;
  graph::Attributes attributes = {};
  /// Is the share of the op's multiplications that meet a pixel; the others meet one of the zeros
  /// around an image, and may be left out.
  double seen = 1;
};

/// Holds cases that have the same goal, which each of them must reach.
struct OpGoal {
  std::string work;
  double percent;  ///< Is a percentage of the peak, or of the roofline.
  bool of_roof = false;
  std::vector<OpCase> cases = {};  ///< Each has a name that says how it differs from the others.
};

/// Returns the goals, which are for wide convolutions and dense layers.
std::vector<OpGoal> op_goals();

/// Returns the cases of op_goals(); convolutions with few channels, as the networks have them, and
/// their poolings, in both layouts; and the networks' dense layers.
std::vector<OpCase> op_cases();

}  // namespace penstock::benchmarks
