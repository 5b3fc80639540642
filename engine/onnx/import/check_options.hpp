// check_options() checks that options of an import are about the file that is imported.
#pragma once

#include "engine/onnx/import/graph_plan.hpp"
#include "penstock/onnx.hpp"

namespace penstock {

/// Checks the options for a graph. @throws Error invalid_argument for inputs, dimensions and
/// patterns of parameters that the graph does not have; shape_mismatch for an input of another type
/// or shape.
void check_options(const GraphPlan& plan, const OnnxOptions& options);

}  // namespace penstock
