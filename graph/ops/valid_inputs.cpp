#include "graph/ops/valid_inputs.hpp"

#include "graph/ops/losses/binary_cross_entropy.hpp"
#include "graph/ops/losses/class_labels.hpp"
#include "graph/ops/losses/cross_entropy.hpp"
#include "graph/ops/losses/ctc_loss.hpp"
#include "graph/ops/losses/nll_loss.hpp"
#include "graph/ops/sequences/embedding.hpp"

namespace penstock::graph {
namespace {

/// An op that refuses some contents of its inputs, and what fills these with what it takes.
struct Choosy {
  const Op& op;
  void (*fill)(const Attributes&, std::span<const Operand> inputs);
};

const Choosy choosy_ops[] = {
    {binary_cross_entropy, fill_probabilities},
    {cross_entropy, fill_labels_of_scores},
    {cross_entropy_gradient, fill_labels_of_scores},
    {ctc_loss, fill_sequences},
    {ctc_loss_gradient, fill_sequences},
    {embedding, fill_ids},
    {embedding_gradient, fill_ids_of_gradient},
    {nll_loss, fill_labels_of_scores},
    {nll_loss_gradient, fill_labels_of_gradient},
};

}  // namespace

void make_valid(const Op& op, const Attributes& attributes, std::span<const Operand> inputs) {
  for (const Choosy& choosy : choosy_ops)
    if (&choosy.op == &op) choosy.fill(attributes, inputs);
}

}  // namespace penstock::graph
