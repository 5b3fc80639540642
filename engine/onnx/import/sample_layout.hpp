// These pure functions say how the dimensions of ONNX's tensors and of the model's values belong to
// each other (Placement).
#pragma once

#include <array>

#include "engine/onnx/import/imported.hpp"

namespace penstock {

/// Returns the dimensions of ONNX's tensor for `samples` samples, where `value` are those of the
/// value.
Dims onnx_dims(const Dims& value, const Placement& placement, std::int64_t samples);
/// Returns the dimensions of the value for ONNX's dimensions `dims`, with 1 in place of the number
/// of samples.
Dims value_dims(const Dims& dims, const Placement& placement);
/// Returns which axis of the value is axis number `axis` of ONNX's tensor, which has no samples.
std::size_t value_axis(std::size_t axis, const Placement& placement);

/// Returns where the samples are when a tensor of the dimensions `from` gets the dimensions `to`.
/// The order of the elements stays. @throws MixedSamples if an axis would have parts of samples, or
/// if the number of axes depends on the number of samples.
Placement reshaped_placement(const Placement& placement, const ProbedDims& from,
                             const ProbedDims& to, const std::array<std::int64_t, probes>& samples);

/// Returns the rows along `placement.axis` of `tensor` that are one sample's, of which there are
/// `outer` times `inner`, where all samples have the same rows. @throws MixedSamples if the rows of
/// samples differ.
Tensor rows_of_a_sample(const Tensor& tensor, const Placement& placement);

}  // namespace penstock
