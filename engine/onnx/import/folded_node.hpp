// A node whose inputs are all known at import is folded: its results are computed at once, for both
// numbers of samples.
#pragma once

#include <array>
#include <vector>

#include "engine/onnx/format/tensor_reader.hpp"
#include "engine/onnx/import/computed_count.hpp"
#include "engine/onnx/import/imported.hpp"

namespace penstock {

/// Returns the results of a node whose inputs are known, or an empty list if its operator is not
/// one that is folded. `reader` reads the tensors of attributes, and `count` counts what is read
/// and made. @throws Error as fold(), TooMuchComputed, and MixedSamples if the number of results
/// depends on the number of samples.
std::vector<Imported> folded_outputs(const OnnxNode& node, const std::vector<Imported*>& inputs,
                                     TensorReader& reader, ComputedCount& count);

/// Lets what is known for the two numbers of samples be one tensor if both are equal. What makes an
/// Imported calls this, so that nobody else compares elements. `count` counts what is compared.
/// @throws TooMuchComputed.
void join_equal(std::array<Tensor, probes>& known, ComputedCount& count);

}  // namespace penstock
