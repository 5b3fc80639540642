// These functions read files in the ONNX format, which is a message of Protocol Buffers. They trust
// nothing in a file. Memory grows with the size of the file, and not with what the file claims.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "engine/onnx/format/onnx_file.hpp"

namespace penstock {

/// Reads the model in the file at `path`. @throws Error io_error if the file cannot be read;
/// corrupt_file if it breaks the format. The text names the file.
OnnxFile read_onnx_file(const std::filesystem::path& path);
/// Returns the bytes of the file at `path`, which errors call `name`. @throws Error io_error.
std::shared_ptr<const std::vector<std::byte>> read_onnx_bytes(const std::filesystem::path& path,
                                                              const std::string& name);
/// Reads the model in `bytes`. @throws Error corrupt_file if they break the format.
OnnxFile read_onnx(std::shared_ptr<const std::vector<std::byte>> bytes);
/// Reads a tensor in `bytes`, to which the result refers, such as those of a file of ONNX's tests
/// (input_0.pb). @throws Error corrupt_file if they break the format.
OnnxTensor read_onnx_tensor(std::span<const std::byte> bytes);

}  // namespace penstock
