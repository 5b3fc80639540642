// print_summary() says what is in a file.
#pragma once

#include <string>

namespace onnx_tool {

/// Prints what is in the ONNX file at `path`.
void print_summary(const std::string& path);

}  // namespace onnx_tool
