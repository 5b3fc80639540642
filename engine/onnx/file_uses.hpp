// These functions say what is in an ONNX file that has been read, and run it.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/onnx/format/onnx_file.hpp"
#include "engine/onnx/import/import_graph.hpp"
#include "penstock/named_tensor.hpp"
#include "penstock/onnx.hpp"

namespace penstock {

/// Returns what is in the file.
OnnxSummary summary_of(const OnnxFile& file);

/// Returns what LoadedOnnx::layers() returns, where `imported` was made of the file.
OnnxLayers layers_of(const OnnxFile& file, const ImportedGraph& imported);

/// Does what run_onnx() does with the file, whose other files are in `directory`.
/// @throws Error as run_onnx(), apart from those of reading the file.
std::vector<NamedTensor> run_file(const OnnxFile& file, const std::filesystem::path& directory,
                                  const std::vector<NamedTensor>& inputs);

}  // namespace penstock
