// A LayerCase is a layer to add to a model, with the op, the shape, the attributes and the
// parameters that the model then has for it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string_view>
#include <vector>

#include "engine/model/model_access.hpp"
#include "graph/ir/op.hpp"
#include "penstock/model.hpp"

namespace penstock::testing {

/// LayerInputs are the inputs that a case may use.
struct LayerInputs {
  explicit LayerInputs(Model& model)
      : image(model.input("image", {4, 9, 8})),
        features(model.input("features", {6})),
        matrix(model.input("matrix", {3, 6})),
        labels(model.labels()) {}
  Value image, features, matrix, labels;
};

struct LayerCase {
  const char* op;
  std::function<Value(Model&, const LayerInputs&)> layer;
  Shape shape;
  graph::Attributes attributes = {};
  std::vector<ParameterInfo> parameters = {};
};

inline void PrintTo(const LayerCase& c, std::ostream* stream) {
  *stream << c.op;
}

/// Returns the names of the model's ops, in the order of its layers.
inline std::vector<std::string_view> ops_of(const Model& model) {
  std::vector<std::string_view> ops;
  for (const graph::Node& node : ModelAccess::graph(model).nodes) ops.push_back(node.op->name);
  return ops;
}

/// ModelLayers tests a LayerCase. The cases are in several files.
class ModelLayers : public ::testing::TestWithParam<LayerCase> {};

}  // namespace penstock::testing
