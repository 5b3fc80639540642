// An OpExport says by which function the nodes of an op are written. The lists have the ops of one
// source each.
#pragma once

#include <span>
#include <string_view>

#include "engine/onnx/export/node_export.hpp"

namespace penstock {

struct OpExport {
  const graph::Op* op;
  void (*write)(NodeExport&);
};

/// Writes a node of the operator that computes the same (Op::onnx), with the inputs of the model's
/// node and without attributes.
void write_same_operator(NodeExport& n);

std::span<const OpExport> activation_exports();
std::span<const OpExport> arithmetic_exports();
std::span<const OpExport> convolution_exports();
std::span<const OpExport> element_choice_exports();
std::span<const OpExport> loss_exports();
std::span<const OpExport> matrix_exports();
std::span<const OpExport> movement_exports();
std::span<const OpExport> norm_exports();
std::span<const OpExport> recurrent_exports();
std::span<const OpExport> reduction_exports();
std::span<const OpExport> sequence_exports();

/// Returns the entry of `op`, or null if its nodes cannot be written.
const OpExport* find_export(const graph::Op& op);

/// An OpRefusal says why an op of models cannot be written.
struct OpRefusal {
  const graph::Op* op;
  std::string_view reason;
};
/// Returns the ops that models have in inference and that cannot be written.
std::span<const OpRefusal> op_refusals();

}  // namespace penstock
