#include "apps/onnx/convert.hpp"

#include "penstock/error.hpp"
#include "penstock/onnx.hpp"
#include "penstock/safetensors.hpp"

namespace onnx_tool {

void write_weights(const std::string& model, const std::string& weights) {
  if (weights.ends_with(".onnx"))
    throw penstock::Error(penstock::Errc::invalid_argument,
                          weights + ": expected --weights FILE for a result in the ONNX format");
  penstock::save_safetensors(weights, penstock::load_onnx_weights(model));
}

void write_model(const std::string& model, const std::string& weights, const std::string& result) {
  penstock::save_onnx_with_weights(model, result, penstock::load_safetensors(weights).tensors);
}

}  // namespace onnx_tool
