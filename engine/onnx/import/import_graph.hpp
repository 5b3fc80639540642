// import_graph() makes a Model of what an ONNX file says.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/onnx/format/onnx_file.hpp"
#include "engine/onnx/import/imported.hpp"
#include "penstock/model.hpp"
#include "penstock/onnx.hpp"

namespace penstock {

/// An ImportedInput is an input of the file that is one of the model.
struct ImportedInput {
  std::string name;
  OnnxType type;
  Placement placement;
  Dims dims;  ///< These are the dimensions in ONNX for one sample.
};

/// An ImportedOutput is an output of the file: one of the model, or a tensor that is known.
struct ImportedOutput {
  std::string name;
  OnnxType type;
  std::optional<Placement> placement = {};
  Tensor known = {};
};

struct ImportedGraph {
  Model model;
  std::vector<ImportedInput> inputs = {};
  std::vector<ImportedOutput> outputs = {};
};

/// An ImportRequest says what is imported, and for what.
struct ImportRequest {
  const OnnxFile& file;
  std::filesystem::path directory;  ///< Files of elements are in this directory.
  const OnnxOptions& options;
  /// `is_run` says that the model is run as the file says, and not trained.
  bool is_run = false;
};

/// Makes a model of a file. @throws Error as Model::from_onnx().
ImportedGraph import_graph(const ImportRequest& request);

/// Returns the nodes that import_graph() refuses. @throws Error as LoadedOnnx::refusals().
std::vector<OnnxRefusal> refusals_of(const ImportRequest& request);

}  // namespace penstock
