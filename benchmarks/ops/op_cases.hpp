// These are the calls of single ops that the benchmarks measure. Some of them have goals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/ir/attributes.hpp"
#include "graph/ir/graph.hpp"

namespace penstock::benchmarks {

/// Returns the type of a tensor of floats.
inline graph::TensorType f32(Shape shape) {
  return {DType::f32, shape};
}

struct OpCase {
  std::string name;
  std::string op;
  std::vector<graph::TensorType> inputs;
  std::int64_t images;
  graph::Attributes attributes = {};
  /// `seen` is the share of the op's multiplications that meet a pixel; the others meet one of the
  /// zeros around an image, and may be left out.
  double seen = 1;
};

/// An OpGoal has cases with the same goal, which each case must reach.
struct OpGoal {
  std::string work;
  /// `percent` is a percentage of the peak, or of the roofline if `of_roof` is true.
  double percent;
  bool of_roof = false;
  /// Each case has a name that says how it differs from the others.
  std::vector<OpCase> cases = {};
};

/// Returns the goals, which are for wide convolutions and dense layers.
std::vector<OpGoal> op_goals();

/// Returns the cases of op_goals(); convolutions with few channels, as the networks have them, and
/// the poolings of these convolutions, in both layouts; and the networks' dense layers.
std::vector<OpCase> op_cases();

}  // namespace penstock::benchmarks
