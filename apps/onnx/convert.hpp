// These functions exchange weights between files in the formats of ONNX and safetensors.
#pragma once

#include <string>

namespace onnx_tool {

/// Writes the initializers of the ONNX file `model` to the safetensors file `weights`.
void write_weights(const std::string& model, const std::string& weights);
/// Writes the ONNX file `model` with the weights of the safetensors file `weights` to the ONNX file
/// `result`.
void write_model(const std::string& model, const std::string& weights, const std::string& result);

}  // namespace onnx_tool
