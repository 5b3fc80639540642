// This writes Models as ONNX files.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "engine/model/model_state.hpp"
#include "engine/names/known_names.hpp"
#include "engine/onnx/export/export_graph.hpp"
#include "engine/onnx/format/write_onnx_file.hpp"
#include "graph/passes/network/model_form.hpp"
#include "graph/passes/network/prune.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/model.hpp"
#include "penstock/onnx.hpp"
#include "penstock/output_file.hpp"

namespace penstock {
namespace {

/// Returns the outputs that are computed without a loss, or all if there are no such outputs.
std::vector<graph::Output> outputs_without_losses(const graph::Graph& model) {
  std::vector<bool> depends_on_loss(model.values.size());
  for (const graph::Node& node : model.nodes)
    if (node.op->is_loss || std::ranges::any_of(node.inputs, [&](graph::ValueId value) {
          return depends_on_loss[graph::index(value)];
        }))
      for (const graph::ValueId value : node.outputs) depends_on_loss[graph::index(value)] = true;
  std::vector<graph::Output> outputs = model.outputs;
  std::erase_if(outputs, [&](const graph::Output& output) {
    return depends_on_loss[graph::index(output.value)];
  });
  return outputs.empty() ? model.outputs : outputs;
}

/// Returns the outputs that the options ask for.
std::vector<graph::Output> wanted_outputs(const graph::Graph& model,
                                          const OnnxExportOptions& options) {
  if (options.outputs.empty()) {
    if (model.outputs.empty())
      throw Error(Errc::invalid_model,
                  "model " + quoted_text(model.name) +
                      " has no output to write; output() makes one of a value");
    return outputs_without_losses(model);
  }
  std::vector<graph::Output> outputs;
  for (const std::string& name : options.outputs) {
    const auto output = std::ranges::find(model.outputs, name, &graph::Output::name);
    if (output != model.outputs.end()) {
      outputs.push_back(*output);
      continue;
    }
    const auto layer = std::ranges::find(model.nodes, name, &graph::Node::name);
    if (layer == model.nodes.end())
      throw Error(Errc::invalid_argument,
                  "OnnxExportOptions::outputs: model " + quoted_text(model.name) +
                      " has neither an output nor a layer " + quoted_text(name) +
                      instead_of(name, model.outputs, &graph::Output::name));
    outputs.push_back({.name = name, .value = layer->outputs[0]});
  }
  return outputs;
}

/// Returns what of the model computes its outputs, in the form for inference.
graph::Graph written_form(const graph::Graph& model, const OnnxExportOptions& options) {
  graph::Graph wanted = model;
  wanted.outputs = wanted_outputs(model, options);
  std::vector<graph::ValueId> values;
  for (const graph::Output& output : wanted.outputs) values.push_back(output.value);
  // A form for inference takes fewer inputs than that for training.
  return graph::prune(graph::inference_form(graph::prune(wanted, values)), values);
}

ExportedGraph exported(ModelState& impl, const OnnxExportOptions& options) {
  if (options.batch_size < 0)
    throw Error(Errc::invalid_argument,
                "OnnxExportOptions::batch_size: expected 0 or more samples, got " +
                    std::to_string(options.batch_size));
  const graph::Graph form = written_form(impl.network.graph(), options);
  ExportedGraph graph =
      export_graph({.model = form,
                    .weight = [&](const std::string& name) { return impl.weights.newest(name); },
                    .batch = options.batch_size});
  graph.file.metadata = options.metadata;
  return graph;
}

/// Moves the elements of the initializers of `file` to `data`, a file that is called `name`.
void move_elements(OnnxFile& file, OutputFile& data, const std::string& name) {
  std::uint64_t offset = 0;
  for (std::shared_ptr<const OnnxTensor>& initializer : file.graph.initializers) {
    auto moved = std::make_shared<OnnxTensor>(*initializer);
    const std::span<const std::byte> elements = *std::exchange(moved->raw, std::nullopt);
    data.write(elements);
    moved->external = {{"location", name},
                       {"offset", std::to_string(offset)},
                       {"length", std::to_string(elements.size())}};
    offset += elements.size();
    initializer = std::move(moved);
  }
}

std::uint64_t bytes_of_weights(const OnnxFile& file) {
  std::uint64_t bytes = 0;
  for (const auto& initializer : file.graph.initializers) bytes += initializer->raw->size();
  return bytes;
}

void write_with_data(OnnxFile& file, const std::filesystem::path& path) {
  std::filesystem::path data_path = path;
  data_path += ".data";
  OutputFile model(path), data(data_path);
  move_elements(file, data, data_path.filename().string());
  const WireMessage message = onnx_message(file);
  if (message.size() >= onnx_bytes_limit)
    throw Error(Errc::unsupported, "the ONNX file would have " + std::to_string(message.size()) +
                                       " bytes without its weights, more than the format allows");
  write_message(message, model);
  model.sync();
  data.sync();
  data.commit();
  model.commit();
}

}  // namespace

void Model::save_onnx(const std::string& path, const OnnxExportOptions& options) const {
  impl_->calling("Model::save_onnx", [&](Impl& impl) {
    ExportedGraph graph = exported(impl, options);
    if (options.weights == OnnxWeights::beside || bytes_of_weights(graph.file) >= onnx_bytes_limit)
      return write_with_data(graph.file, path);
    const WireMessage message = onnx_message(graph.file);
    if (message.size() >= onnx_bytes_limit) return write_with_data(graph.file, path);
    OutputFile file(path);
    write_message(message, file);
    file.commit();
  });
}

void Model::save_onnx(const std::string& path) const {
  save_onnx(path, {});
}

void Model::save_onnx(OutputFile& file) const {
  save_onnx(file, {});
}

void Model::save_onnx(OutputFile& file, const OnnxExportOptions& options) const {
  impl_->calling("Model::save_onnx", [&](Impl& impl) {
    if (options.weights == OnnxWeights::beside)
      throw Error(Errc::invalid_argument,
                  "OnnxExportOptions::weights: expected OnnxWeights::inside for an OutputFile, got "
                  "OnnxWeights::beside; save_onnx() with a path writes the second file, too");
    const ExportedGraph graph = exported(impl, options);
    const WireMessage message = onnx_message(graph.file);
    if (message.size() >= onnx_bytes_limit)
      throw Error(Errc::unsupported,
                  "model " + quoted_text(impl.network.graph().name) +
                      ": its ONNX file would have " + std::to_string(message.size()) +
                      " bytes, more than the format allows; OnnxWeights::beside puts the weights "
                      "into a file of their own");
    write_message(message, file);
  });
}

void Model::check_onnx() const {
  impl_->calling("Model::check_onnx", [&](Impl& impl) { exported(impl, {}); });
}

}  // namespace penstock
