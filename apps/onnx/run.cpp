#include "apps/onnx/run.hpp"

#include <filesystem>
#include <iostream>
#include <system_error>

#include "apps/onnx/tensor_files.hpp"
#include "penstock/penstock.hpp"

namespace onnx_tool {
namespace {

namespace fs = std::filesystem;

/// Makes the directory for the results, unless it is there.
void make_directory(const std::string& directory) {
  std::error_code error, unknown;
  fs::create_directories(directory, error);
  if (fs::is_directory(directory, unknown)) return;
  throw penstock::Error(penstock::Errc::io_error,
                        "--output-dir \"" + directory +
                            "\": expected a directory, or the name of one that can be made" +
                            (error ? ": " + error.message() : ""));
}

/// Returns what the model of the file at `path` computes. The text of an error begins with the
/// path.
std::vector<penstock::NamedTensor> outputs_of(const penstock::LoadedOnnx& model,
                                              const std::string& path,
                                              const std::vector<penstock::NamedTensor>& inputs) {
  try {
    return model.run(inputs);
  } catch (const penstock::Error& error) {
    throw penstock::Error(error.code(), path + ": " + error.what());
  }
}

}  // namespace

void run(const std::string& path, const std::vector<std::string>& inputs,
         const std::string& directory) {
  const penstock::LoadedOnnx model(path);
  const penstock::OnnxSummary& summary = model.summary();
  if (inputs.size() != summary.inputs.size())
    throw penstock::Error(penstock::Errc::invalid_argument,
                          path + ": expected a file for each of " +
                              std::to_string(summary.inputs.size()) + " inputs, got " +
                              std::to_string(inputs.size()));
  std::vector<penstock::NamedTensor> tensors;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    tensors.push_back({summary.inputs[i].name, load_tensor(inputs[i])});
  make_directory(directory);
  const std::vector<penstock::NamedTensor> outputs = outputs_of(model, path, tensors);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const fs::path result = fs::path(directory) / ("output_" + std::to_string(i) + ".npy");
    penstock::save_npy(result.string(), outputs[i].tensor);
    std::cout << penstock::terminal_text(result.string()) << ' '
              << penstock::terminal_text(outputs[i].name) << ' '
              << to_string(outputs[i].tensor.dtype()) << to_string(outputs[i].tensor.shape())
              << '\n';
  }
}

}  // namespace onnx_tool
