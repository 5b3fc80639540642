// Axis 0 of a model's values counts the samples of a micro-batch, but a layer sees sizes only. This
// check finds layers that mistake another axis for that of the samples, before a model runs.
#pragma once

#include "graph/ir/graph.hpp"

namespace penstock {

/// Checks that the layers of `graph` take micro-batches of any number of samples, and that no layer
/// broadcasts the axis of the samples to a place behind it. The rows and columns of matrices may
/// count samples: x [N,D] times w [H,D,E] is [H,N,E].
///
/// A layer that adds a parameter of shape [2,3] to x [N,3], for example, takes one sample, and two
/// of them, but would mistake the parameter's axis 0 for the samples. One that subtracts y [N] from
/// x [N,1] would compute the differences of all pairs of samples.
/// @throws Error shape_mismatch, which names a layer that broadcasts, and shows shapes with N for
/// the number of samples; as graph::append() for other layers, which names the model and the number
/// of samples that a layer refuses.
void check_sample_axes(const graph::Graph& graph);

}  // namespace penstock
