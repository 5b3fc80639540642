// This makes Models of ONNX files.
#include <filesystem>

#include "engine/onnx/format/read_onnx_file.hpp"
#include "engine/onnx/import/import_graph.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/model.hpp"
#include "penstock/onnx.hpp"

namespace penstock {

Model Model::from_onnx(const std::string& path, const OnnxOptions& options) {
  return on_hosts_thread("Model::from_onnx", [&] {
    const OnnxFile file = read_onnx_file(path);
    try {
      return import_graph({.file = file,
                           .directory = std::filesystem::path(path).parent_path(),
                           .options = options})
          .model;
    } catch (const Error& error) {
      throw Error(error.code(), "ONNX file " + printable(path) + ": " + error.what());
    }
  });
}

Model Model::from_onnx(const std::string& path) {
  return from_onnx(path, {});
}

}  // namespace penstock
