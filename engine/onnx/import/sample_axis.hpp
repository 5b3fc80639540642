// A SampleAxis is a choice of which axis of an ONNX graph's inputs counts samples. The functions
// are pure.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/onnx/format/onnx_file.hpp"
#include "engine/onnx/import/imported.hpp"
#include "penstock/onnx.hpp"

namespace penstock {

struct SampleAxis {
  bool whole = true;  ///< If `whole` is true, no axis does.
  /// The axis has this name; an empty name says that it has the number `axis`.
  std::string symbol = {};
  std::size_t axis = 0;  ///< This is the number of the axis if `symbol` is empty.
  /// These are the two numbers of samples that the import goes by.
  std::array<std::int64_t, probes> samples = {1, 1};

  /// Returns where the input has its samples, or nothing if it has none.
  std::optional<Placement> placement_of(const OnnxValueInfo& input) const;
};

/// Returns the choices for a graph with these inputs, the first of which is to be tried first. If
/// the model is only run on the inputs that `options` give, the number of samples is theirs.
/// @throws Error invalid_argument if the options want an axis and there is none.
std::vector<SampleAxis> sample_axes(const std::vector<OnnxValueInfo>& inputs,
                                    const OnnxOptions& options, bool is_run);

/// Returns the dimensions of an input, with the first of the two numbers of samples.
/// @throws Error unsupported for an input that is no tensor, and for one whose shape the file and
/// the options leave open.
Dims dims_of_input(const OnnxValueInfo& input, const OnnxOptions& options, const SampleAxis& axis);

}  // namespace penstock
