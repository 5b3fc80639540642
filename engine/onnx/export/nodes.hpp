// Nodes are the ONNX nodes and constants that have been written so far, with names that are used
// once. BatchTypes are the types of a model's values for two numbers of samples, which say what
// depends on that number. One thread uses them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/onnx/format/onnx_file.hpp"
#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "graph/ir/graph.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

using OnnxSettings = std::vector<OnnxAttribute>;

/// These functions make attributes of nodes.
OnnxAttribute integer_setting(const std::string& name, std::int64_t value);
OnnxAttribute integers_setting(const std::string& name, const Dims& values);
OnnxAttribute real_setting(const std::string& name, double value);
OnnxAttribute text_setting(const std::string& name, const std::string& value);

class BatchTypes {
 public:
  /// Makes the types of `model` for any number of samples, or for `batch` samples if that is not 0.
  BatchTypes(const graph::Graph& model, std::int64_t batch);

  /// Returns the model, for some number of samples.
  const graph::Graph& model() const { return first_; }
  const graph::TensorType& type(graph::ValueId value) const { return first_.type(value); }
  /// Returns whether the size of an axis depends on the number of samples.
  bool is_open(graph::ValueId value, std::size_t axis) const;
  /// Returns whether the axis has as many elements as there are samples, and depends on them.
  bool counts_samples(graph::ValueId value, std::size_t axis) const;
  /// Returns whether an axis of one value has the size of the same axis of another one, for any
  /// number of samples.
  bool is_same_size(graph::ValueId one, graph::ValueId other, std::size_t axis) const;

 private:
  std::int64_t samples_;
  graph::Graph first_, second_;
};

class Nodes {
 public:
  /// Returns a name for a value that no value has yet: `wanted`, or `wanted` with a number.
  std::string unused_value(const std::string& wanted);
  /// Returns a name for a node that no node has yet.
  std::string unused_node(const std::string& wanted);

  void add(OnnxNode node) { all_.push_back(std::move(node)); }
  /// Returns the name of a constant, for which a node is added when it is asked for the first time.
  std::string constant(const Tensor& tensor);
  /// Returns the name of a constant f32 of no axes.
  std::string number(double value);
  /// Returns the name of a constant list of i64.
  std::string list(const Dims& values);
  /// Returns an attribute that is a tensor.
  OnnxAttribute tensor_setting(const std::string& name, const Tensor& tensor);

  std::vector<OnnxNode>& all() { return all_; }
  /// Returns the tensors whose elements the attributes refer to.
  std::vector<Tensor>& kept() { return kept_; }

 private:
  std::vector<OnnxNode> all_;
  std::vector<Tensor> kept_;
  std::set<std::string> value_names_, node_names_;
  /// `constants_` has the names of constants by their types, shapes and bytes.
  std::map<std::string, std::string> constants_;
};

}  // namespace penstock
