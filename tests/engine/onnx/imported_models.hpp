// These functions make models of ONNX files that tests put together.
#pragma once

#include <string>

#include "penstock/penstock.hpp"
#include "tests/support/onnx_bytes.hpp"

namespace penstock::testing {

/// Returns the model of a file with these bytes.
Model imported(const std::string& bytes, const OnnxOptions& options = {});
/// Returns the text of the error by which a file with these bytes is refused, behind the file's
/// name. Expects that the error has the code `code`.
std::string refused(Errc code, const std::string& bytes, const OnnxOptions& options = {});
/// This ends the text of an error about nodes that cannot be imported.
inline constexpr const char* export_advice =
    "; export the model in another form (docs/onnx.md lists what can be imported)";
/// Returns what a model computes for `x`.
Tensor outputs(const Model& model, const Tensor& x, const std::string& name = "y");

/// Returns a tensor of sines.
Tensor counted(const Shape& shape, float step = 0.1f);
Tensor integers(const std::vector<std::int64_t>& elements);

/// Returns a network of two linear layers, fc1 and fc2, with a relu between them.
OnnxBytes perceptron();
/// Returns nodes that compute the size of axis 0 of x, as a float called "count".
OnnxBytes counting(const std::vector<OnnxDimension>& dims);

}  // namespace penstock::testing
