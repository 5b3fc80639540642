// run() computes what a file in the ONNX format computes for tensors in files.
#pragma once

#include <string>
#include <vector>

namespace onnx_tool {

/// Runs the model in the file at `path` on the tensors in the files `inputs`, which are its inputs
/// in their order, and writes the outputs to the files output_0.npy, output_1.npy and so on in
/// `directory`, which is made if it is not there. Prints a line for each output.
void run(const std::string& path, const std::vector<std::string>& inputs,
         const std::string& directory);

}  // namespace onnx_tool
