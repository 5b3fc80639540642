// Layers that have an attention inside are made of these functions, in a Composition. They add
// nodes, and parameters whose names begin with the name that they are given.
#pragma once

#include <string>
#include <vector>

#include "engine/model/layers/composition.hpp"
#include "penstock/transformer_layers.hpp"

namespace penstock {

/// Returns the attention of `inputs`, which are q, k and v, or qkv. Its node is called
/// `options.name` if there is a dropout, and else `name`. An empty `name` stands for one that is
/// not in use.
Value attention_of(const Composition& layer, const std::vector<Value>& inputs,
                   AttentionOptions options, const std::string& name = "");

/// A MultiHeadInputs has what multi_head_of() attends with. Self-attention has one value three
/// times.
struct MultiHeadInputs {
  Value query, key, value;
};

/// Returns torch.nn.MultiheadAttention of `inputs`. The last node and the prefix of the parameters
/// are called `name`.
Value multi_head_of(const Composition& layer, const std::string& name,
                    const MultiHeadInputs& inputs, const MultiHeadAttentionOptions& options);

}  // namespace penstock
