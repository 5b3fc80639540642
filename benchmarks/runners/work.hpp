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
  double learning_rate = 0.001;
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
  bool trainable = true;  ///< This is false for a buffer, such as a running mean.
};
using Weights = std::map<std::string, Weight>;

/// A Field has one input of a network for all samples, whose shapes are `shape`. Either `values` or
/// `numbers` has the elements, sample by sample.
struct Field {
  std::vector<std::int64_t> shape = {};
  std::vector<float> values = {};
  std::vector<std::int64_t> numbers = {};
};

/// A Samples has what a network reads and then, as the last field, the classes that it should find.
struct Samples {
  std::int64_t count = 0;
  std::vector<Field> fields = {};
};

}  // namespace penstock::benchmarks
