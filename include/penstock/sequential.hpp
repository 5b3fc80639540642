// A Sequential adds layers to a Model one after the other, and sets pipeline stages by a list of
// numbers. One thread uses a Sequential.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/model.hpp"

namespace penstock {

class Growth;

/// An Activation is the activation that Sequential::dense() adds.
enum class Activation : std::uint8_t { none, relu, sigmoid, tanh, softmax };

/// A ChainLayer describes a layer of a chain.
struct ChainLayer {
  /// `layer` is the name of the first of the model's layers that this layer of the chain consists
  /// of.
  std::string layer = {};
  /// `ops` has the ops of the model's layers that this layer of the chain consists of, such as
  /// {"linear", "relu"}.
  std::vector<std::string> ops = {};
  int stage = -1;  ///< `stage` is the stage of the layer, or -1 if none was set.
};

/// A Sequential is a chain of layers that begins at a value of a model. What the chain adds belongs
/// to the model, which may have other layers, such as a loss. One layer of the chain may be several
/// layers of the model.
class Sequential {
 public:
  /// Makes a chain without layers that begins at `begin`. @throws Error invalid_model if `begin` is
  /// not a value of `model`.
  Sequential(const Model& model, Value begin);

  /// A Layer is a function that adds a layer to `model` and returns what the new layer computes.
  /// The new layer reads `x`, which the layer before it has computed.
  using Layer = std::function<Value(Model& model, Value x)>;
  /// Calls `layer` and adds what it returns to the chain as one layer. Layers that the function
  /// itself adds to the chain become parts of that layer.
  /// @throws what `layer` throws; inside `layer`, calls that compile, run or clone the model throw
  /// Error busy.
  /// @throws Error invalid_model if `layer` returns a value of another model. The network and all
  /// of its chains are then as they were before, and what `layer` had added is gone, from copies of
  /// a chain, too.
  Sequential& add(const Layer& layer);
  /// Adds Model::flatten().
  Sequential& flatten();
  /// Adds Model::linear() and `activation` behind it as one layer.
  Sequential& dense(const std::string& name, std::int64_t units,
                    Activation activation = Activation::none);
  /// Adds Model::dropout().
  Sequential& dropout(const std::string& name, double probability);

  /// Returns the number of layers.
  std::size_t size() const noexcept;
  /// Returns what the last layer computes, or the value at which the chain begins if it has no
  /// layer.
  Value output() const noexcept;
  /// Returns the model that the chain belongs to.
  const Model& model() const noexcept { return model_; }

  /// Sets the stage of each layer, such as {0, 0, 1, 1}. What the model computes before the chain
  /// is in stage 0, and what it computes after a layer is in that layer's stage.
  /// @throws Error invalid_argument unless there is a number for each layer, the first number is 0,
  /// and each further one is the same as the one before or one more; busy inside the function of a
  /// layer of the model; other errors as Model::set_stage_assignment(). The model is unchanged
  /// then.
  void set_stages(const std::vector<int>& stages);
  /// Returns the stage of each layer, or -1 where none was set. A layer that computes nothing is in
  /// the stage that set_stages() gave it, as long as all other layers are in the stages that
  /// set_stages() gave them.
  std::vector<int> stages() const;
  /// Returns a description of each layer, in their order.
  std::vector<ChainLayer> layers() const;

 private:
  /// An Extent says what was added to the model as one layer of the chain: `begin` and `end` are
  /// the numbers of layers that the model had before and after that, `output` is what the layer
  /// computes, and `growth` is the growth of the model that the layer is part of, or null.
  struct Extent {
    std::size_t begin = 0, end = 0;
    Value output = {};
    std::shared_ptr<const Growth> growth = {};
  };
  void drop_layers_taken_back();

  Model model_;
  Value begin_;
  // `extents_` has an entry for each layer of the chain. The layers of the last entries may have
  // been taken back.
  std::vector<Extent> extents_;
  std::vector<int> assigned_;  // `assigned_` has the stages that were set last.
};

/// Returns a table with a line per layer of the chain.
std::string to_string(const Sequential& chain);
/// Returns a list of objects with the fields of ChainLayer, as JSON.
std::string to_json(const Sequential& chain);

}  // namespace penstock
