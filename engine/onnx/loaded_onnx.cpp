// This reads ONNX files, makes Models of them, describes and runs them.
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "engine/onnx/file_uses.hpp"
#include "engine/onnx/format/read_onnx_file.hpp"
#include "engine/onnx/format/tensor_values.hpp"
#include "engine/onnx/import/import_graph.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/model.hpp"
#include "penstock/onnx.hpp"

namespace penstock {

struct LoadedOnnx::Impl {
  std::string path;
  OnnxFile file;
  OnnxSummary summary;

  std::filesystem::path directory() const { return std::filesystem::path(path).parent_path(); }
  ImportRequest request(const OnnxOptions& options) const {
    return {.file = file, .directory = directory(), .options = options};
  }

  /// Returns what `work` returns. The text of an error gets the name of the file.
  template <class Work>
  auto named(const Work& work) const {
    try {
      return work();
    } catch (const Error& error) {
      throw Error(error.code(), "ONNX file " + printable(path) + ": " + error.what());
    }
  }
};

LoadedOnnx::LoadedOnnx(const std::string& path) {
  impl_ = on_hosts_thread("LoadedOnnx", [&] {
    OnnxFile file = read_onnx_file(path);
    OnnxSummary summary = summary_of(file);
    return std::shared_ptr<const Impl>(new Impl{path, std::move(file), std::move(summary)});
  });
}

const OnnxSummary& LoadedOnnx::summary() const noexcept {
  return impl_->summary;
}

std::span<const std::byte> LoadedOnnx::bytes() const noexcept {
  return *impl_->file.bytes;
}

Model LoadedOnnx::model(const OnnxOptions& options) const {
  return on_hosts_thread("Model::from_onnx", [&] {
    return impl_->named([&] { return import_graph(impl_->request(options)).model; });
  });
}

OnnxLayers LoadedOnnx::layers(const OnnxOptions& options) const {
  return on_hosts_thread("LoadedOnnx::layers", [&] {
    return impl_->named(
        [&] { return layers_of(impl_->file, import_graph(impl_->request(options))); });
  });
}

std::vector<OnnxRefusal> LoadedOnnx::refusals(const OnnxOptions& options) const {
  return on_hosts_thread("LoadedOnnx::refusals", [&] {
    return impl_->named([&] { return refusals_of(impl_->request(options)); });
  });
}

std::vector<NamedTensor> LoadedOnnx::run(const std::vector<NamedTensor>& inputs) const {
  return on_hosts_thread("run_onnx",
                         [&] { return run_file(impl_->file, impl_->directory(), inputs); });
}

Model Model::from_onnx(const std::string& path, const OnnxOptions& options) {
  return LoadedOnnx(path).model(options);
}

Model Model::from_onnx(const std::string& path) {
  return from_onnx(path, {});
}

std::vector<NamedTensor> run_onnx(const std::string& path, const std::vector<NamedTensor>& inputs) {
  return LoadedOnnx(path).run(inputs);
}

OnnxSummary describe_onnx(const std::string& path) {
  return LoadedOnnx(path).summary();
}

NamedTensor load_onnx_tensor(const std::string& path) {
  return on_hosts_thread("load_onnx_tensor", [&] {
    const std::string name = "ONNX tensor " + printable(path);
    const auto bytes = read_onnx_bytes(path, name);
    try {
      const OnnxTensor tensor = read_onnx_tensor(*bytes);
      return NamedTensor{tensor.name, values_of(tensor, std::filesystem::path(path).parent_path())};
    } catch (const Error& error) {
      throw Error(error.code(), name + ": " + error.what());
    }
  });
}

}  // namespace penstock
