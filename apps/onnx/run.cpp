#include "apps/onnx/run.hpp"

#include <filesystem>
#include <iostream>

#include "apps/onnx/tensor_files.hpp"
#include "penstock/penstock.hpp"

namespace onnx_tool {

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
  const std::vector<penstock::NamedTensor> outputs = model.run(tensors);
  std::filesystem::create_directories(directory);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::filesystem::path result =
        std::filesystem::path(directory) / ("output_" + std::to_string(i) + ".npy");
    penstock::save_npy(result.string(), outputs[i].tensor);
    std::cout << penstock::terminal_text(result.string()) << ' '
              << penstock::terminal_text(outputs[i].name) << ' '
              << to_string(outputs[i].tensor.dtype()) << to_string(outputs[i].tensor.shape())
              << '\n';
  }
}

}  // namespace onnx_tool
