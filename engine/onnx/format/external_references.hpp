// has_external_references() finds the tensors of an ONNX file that the copy of a file cannot take
// from other files.
#pragma once

#include <cstddef>
#include <span>

namespace penstock {

/// Returns whether the ONNX file `model` has tensors with elements in other files that are no
/// initializers of its graph: sparse initializers, and tensors of nodes, of their branches, of
/// functions and of the training information. It reads what read_onnx() leaves out, too.
/// @throws Error corrupt_file if the file breaks the format.
bool has_external_references(std::span<const std::byte> model);

}  // namespace penstock
