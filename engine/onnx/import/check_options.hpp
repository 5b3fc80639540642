// check_options() checks that options of an import are about the file that is imported.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/onnx/import/graph_plan.hpp"
#include "penstock/onnx.hpp"

namespace penstock {

/// Checks the options for a graph. @throws Error invalid_argument for inputs, dimensions and
/// patterns of parameters that the graph does not have; shape_mismatch for an input of another type
/// or shape; invalid_data for a bool whose byte is neither 0 nor 1. If the model is only run
/// (`is_run`), axes 0 and 1 of inputs may have other sizes than the file says, because one of them
/// may count samples; check_run_input() tells which.
void check_options(const GraphPlan& plan, const OnnxOptions& options, bool is_run);

/// Checks that `tensor` is one for the input. The axis number `samples`, if there is one, may
/// have another size than the file says.
/// @throws Error shape_mismatch.
void check_run_input(const OnnxValueInfo& input, const Tensor& tensor,
                     std::optional<std::size_t> samples);

}  // namespace penstock
