// Sequential: layers one after the other, over a Model, with pipeline stages as a list of numbers.
// Used from one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/model.hpp"

namespace penstock {

class Growth;

enum class Activation : std::uint8_t { none, relu, sigmoid, tanh, softmax };

/// A layer of a chain.
struct ChainLayer {
  std::string layer = {};             ///< the name of the first of the model's layers that it is
  std::vector<std::string> ops = {};  ///< what these compute: {"linear", "relu"}
  int stage = -1;                     ///< -1: none was said
};

/// A chain that begins at a value of a model. What it adds belongs to that model, which may have
/// other layers besides: a loss, say. A layer of the chain may be several of the model's.
class Sequential {
 public:
  /// @throws Error invalid_model if `begin` is no value of `model`.
  Sequential(const Model& model, Value begin);

  /// Makes the next layer of what the last one computes.
  using Layer = std::function<Value(Model& model, Value x)>;
  /// Layers that `layer` adds to the chain itself become parts of this one.
  /// @throws as `layer`, to which calls that compile, run or clone the model throw Error busy;
  /// invalid_model if that returns no value of the model. The network and all of its chains are
  /// then as they were, and what `layer` had added is gone, from copies of a chain as well.
  Sequential& add(const Layer& layer);
  /// Adds Model::flatten().
  Sequential& flatten();
  /// Adds Model::linear() and, unless it is `none`, an activation behind it, as one layer.
  Sequential& dense(const std::string& name, std::int64_t units,
                    Activation activation = Activation::none);
  /// Adds Model::dropout().
  Sequential& dropout(const std::string& name, double probability);

  /// Returns the number of layers.
  std::size_t size() const noexcept;
  /// Returns what the last layer computes, or where the chain begins if it has no layer.
  Value output() const noexcept;
  /// Returns the model that the chain belongs to.
  const Model& model() const noexcept { return model_; }

  /// The stage of each layer, as Model::set_stage_assignment(): {0, 0, 1, 1}. What the model
  /// computes before the chain is in stage 0, what it computes after a layer in that layer's stage.
  /// @throws Error invalid_argument unless there is a number for each layer, the first is 0, and
  /// each next one is the same or one more; busy inside the function of a layer of the model; as
  /// set_stage_assignment(). Then nothing has changed.
  void set_stages(const std::vector<int>& stages);
  /// Of each layer; -1: none was said. A layer that computes nothing is where it was put, as long
  /// as the others are.
  std::vector<int> stages() const;
  /// Returns a description of each layer, in their order.
  std::vector<ChainLayer> layers() const;

 private:
  /// How many layers the model had before a layer of the chain, and with it; what the layer
  /// computes, and the growth of the model that it is a part of, if it is part of one.
  struct Extent {
    std::size_t begin = 0, end = 0;
    Value output = {};
    std::shared_ptr<const Growth> growth = {};
  };
  void drop_layers_taken_back();

  Model model_;
  Value begin_;
  std::vector<Extent> extents_;  // by layer of the chain; the last ones may have been taken back
  std::vector<int> given_;       // the stages set last
};

/// A table with a line per layer of the chain.
std::string to_string(const Sequential& chain);
/// A list of objects with the fields of ChainLayer.
std::string to_json(const Sequential& chain);

}  // namespace penstock
