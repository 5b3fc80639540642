// load_tensor() reads tensors from files of their own, in the formats of ONNX (.pb) and NumPy
// (.npy), which the ends of their names say.
#pragma once

#include <string>

#include "penstock/tensor.hpp"

namespace onnx_tool {

/// Returns the tensor in the file at `path`. @throws penstock::Error that names the file.
penstock::Tensor load_tensor(const std::string& path);

}  // namespace onnx_tool
