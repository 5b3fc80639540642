#include "engine/onnx/export/op_exports.hpp"

#include <algorithm>
#include <array>

#include "graph/ir/op.hpp"
#include "graph/ops/custom/custom.hpp"
#include "graph/ops/losses/binary_cross_entropy.hpp"
#include "graph/ops/losses/class_margin_losses.hpp"
#include "graph/ops/losses/cosine_embedding_loss.hpp"
#include "graph/ops/losses/ctc_loss.hpp"
#include "graph/ops/losses/distribution_losses.hpp"
#include "graph/ops/losses/gaussian_nll_loss.hpp"
#include "graph/ops/losses/margin_losses.hpp"
#include "graph/ops/losses/triplet_margin_loss.hpp"
#include "graph/ops/sequences/cached_attention.hpp"

namespace penstock {
namespace {

constexpr std::string_view code_of_host = "its code is the host's, and no file has it";
constexpr std::string_view lacks_loss =
    "ONNX has no such loss; an output that is not computed from it can be written";

}  // namespace

void write_same_operator(NodeExport& n) {
  n.result(std::string(n.node().op->onnx), n.inputs());
}

const OpExport* find_export(const graph::Op& op) {
  for (const auto& exports :
       {activation_exports(), arithmetic_exports(), convolution_exports(), element_choice_exports(),
        loss_exports(), matrix_exports(), movement_exports(), norm_exports(), recurrent_exports(),
        reduction_exports(), sequence_exports()}) {
    const auto found = std::ranges::find_if(
        exports, [&](const OpExport& entry) { return entry.op->name == op.name; });
    if (found != exports.end()) return &*found;
  }
  return nullptr;
}

std::span<const OpRefusal> op_refusals() {
  static constexpr std::array<OpRefusal, 13> refusals{{
      {&graph::cached_attention, "ONNX keeps nothing from one call to the next"},
      {&graph::cosine_embedding_loss, lacks_loss},
      {&graph::ctc_loss, lacks_loss},
      {&graph::custom, code_of_host},
      {&graph::custom_constant, code_of_host},
      {&graph::gaussian_nll_loss, lacks_loss},
      {&graph::hinge_embedding_loss, lacks_loss},
      {&graph::margin_ranking_loss, lacks_loss},
      {&graph::multi_margin_loss, lacks_loss},
      {&graph::multilabel_margin_loss, lacks_loss},
      {&graph::multilabel_soft_margin_loss, lacks_loss},
      {&graph::poisson_nll_loss, lacks_loss},
      {&graph::triplet_margin_loss, lacks_loss},
  }};
  return refusals;
}

}  // namespace penstock
