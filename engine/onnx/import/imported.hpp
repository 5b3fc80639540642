// An Imported is what a name of an ONNX graph stands for while the graph is imported: a tensor that
// is known already, or a value of the model. It is plain data.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/onnx/format/onnx_file.hpp"
#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "penstock/tensor.hpp"
#include "penstock/value.hpp"

namespace penstock {

/// The import goes by two numbers of samples at once. What differs between them depends on the
/// number of samples.
inline constexpr std::size_t probes = 2;

/// ProbedDims are the dimensions that ONNX's tensor has, for each of the two numbers of samples.
/// The tensor has as many axes for either.
using ProbedDims = std::array<Dims, probes>;

/// A Placement says where in ONNX's tensor the samples of a model's value are. Axis 0 of the value
/// counts samples; the other axes are those of ONNX's tensor, in their order, except that in place
/// of the axis that has the samples there are an axis for `outer` and one for `inner`, unless these
/// are 1. A tensor [T,N·h,d] whose axis 1 has h rows for each sample is a value [N,T,h,d].
struct Placement {
  /// `whole` says that a sample is a whole tensor of ONNX, none of whose axes counts samples.
  bool whole = false;
  std::size_t axis = 0;  ///< This axis of ONNX's tensor has the samples.
  /// The axis has `outer` times as many elements as samples times `inner`.
  std::int64_t outer = 1;
  std::int64_t inner = 1;

  bool operator==(const Placement&) const = default;
  /// Returns whether axis 0 of ONNX's tensor counts the samples, and nothing else.
  bool is_first() const { return !whole && axis == 0 && outer == 1 && inner == 1; }
  /// Returns how many axes the value has in place of the axis of the samples.
  std::size_t extra() const { return (outer != 1 ? 1u : 0u) + (inner != 1 ? 1u : 0u); }
};

/// A graph that is imported has at most this many inputs.
inline constexpr std::size_t most_inputs = 1024;

struct Imported;

/// Sources are some of the inputs of a graph. They take a bit for each input, because any number of
/// values may be computed from any number of inputs.
class Sources {
 public:
  Sources() = default;
  /// Makes the Sources of input number `number`. They refer to `inputs`, which are all inputs of
  /// the graph.
  Sources(const std::vector<OnnxValueInfo>& inputs, std::size_t number) : inputs_(&inputs) {
    is_source_.set(number);
  }

  bool is_empty() const { return is_source_.none(); }
  std::size_t count() const { return is_source_.count(); }
  /// Returns the names of the first `most` sources, in the order of the graph's inputs.
  std::vector<std::string> names(std::size_t most = most_inputs) const;
  void add(const Sources& others);
  /// Returns the sources of what is computed from `inputs`, of which some may be null.
  static Sources of(const std::vector<const Imported*>& inputs);

 private:
  const std::vector<OnnxValueInfo>* inputs_ = nullptr;  // This is null if there are no sources.
  std::bitset<most_inputs> is_source_;
};

struct Imported {
  /// `type` is the type in ONNX. A value of the model that stands for integers or bools may have
  /// floats: 0 and 1 for a bool.
  OnnxType type = OnnxType::f32;
  /// `known` is the tensor for each of the two numbers of samples, or empty handles. Tensors that
  /// are equal share their elements (join_equal()).
  std::array<Tensor, probes> known = {};
  Value value = {};  ///< If nothing is known, this is the value of the model.
  /// `placement` says how `value` has ONNX's tensor if axis 0 of `value` counts samples. Without
  /// it, `value` is computed from parameters and constants alone, and has the axes of ONNX's
  /// tensor.
  std::optional<Placement> placement = {};
  /// `trainable` says that the tensor is known, but may become a parameter.
  bool trainable = false;
  /// `is_of_file` says that the file or the options have the elements of the tensor.
  bool is_of_file = false;
  std::string name = {};  ///< `name` is the name of an initializer, or empty.
  /// `sources` are the inputs of the graph from which the value is computed.
  Sources sources = {};

  bool is_known() const { return static_cast<bool>(known[0]); }
  /// Returns whether the tensor is known, and is one for every number of samples.
  bool is_constant() const {
    return is_known() && known[0].storage() == known[1].storage() &&
           known[0].shape() == known[1].shape();
  }
};

/// An operator would mix samples. The import then begins anew, with each whole tensor as one
/// sample.
struct MixedSamples {
  std::string text;
};

/// An operator needs values of inputs of the graph when the model is imported.
struct NeededInputs {
  Sources sources;
  std::string text;
};

}  // namespace penstock
