// These functions write files in the ONNX format, which read_onnx_file.hpp reads.
#pragma once

#include <string>

#include "engine/onnx/format/onnx_file.hpp"
#include "engine/onnx/format/wire_message.hpp"
#include "penstock/output_file.hpp"

namespace penstock {

/// A message of Protocol Buffers, and so an ONNX file, has fewer bytes than this.
inline constexpr std::uint64_t onnx_bytes_limit = std::uint64_t{1} << 31;

/// Returns the message of a model. It refers to the elements of the tensors in `file`. Functions of
/// the file are left out.
WireMessage onnx_message(const OnnxFile& file);
/// Returns the message of a tensor, to whose raw elements the message refers.
WireMessage onnx_message(const OnnxTensor& tensor);

/// Appends a message to `file`. @throws Error io_error as OutputFile::write().
void write_message(const WireMessage& message, OutputFile& file);
/// Returns the bytes of a message.
std::string bytes_of(const WireMessage& message);

}  // namespace penstock
