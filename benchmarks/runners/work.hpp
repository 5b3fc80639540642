// These types describe the work that the engine and PyTorch both do: a network in training or
// inference, with given weights and data. The types consist of the standard library's types only,
// so that they can be handed to PyTorch's module.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace penstock::benchmarks {

/// A Rule is AdamW with its usual constants, or SGD with learning rate 0.001 and momentum 0.9.
enum class Rule : std::uint8_t { adamw, momentum };

struct Task {
  std::string network;
  bool training = true;
  Rule rule = Rule::adamw;
  std::vector<std::int64_t> sample = {1, 28, 28};  ///< A sample has this shape.
};

/// A Cut says how one run of a task is cut: into `iterations` updates of `accumulation`
/// micro-batches of `batch` samples. Inference has no updates: `accumulation` is 1, and
/// `iterations` is the number of micro-batches.
struct Cut {
  std::int64_t batch = 1;
  std::int64_t accumulation = 1;
  std::int64_t iterations = 1;

  std::int64_t samples() const { return batch * accumulation * iterations; }
};

struct Weight {
  std::vector<std::int64_t> shape = {};
  std::vector<float> values = {};
};
using Weights = std::map<std::string, Weight>;

/// A Samples has samples of the shape `shape`, such as images, and their classes.
struct Samples {
  std::vector<std::int64_t> shape = {};
  std::vector<float> elements = {};
  std::vector<std::int64_t> labels = {};
};

}  // namespace penstock::benchmarks
