// gpt() builds a transformer that predicts the next token of a text, as nanoGPT does.
#pragma once

#include <cstdint>

#include "penstock/model.hpp"

namespace penstock::networks {

/// GptOptions are the sizes of the network. The defaults are those of nanoGPT for a CPU.
struct GptOptions {
  int layers = 4;                ///< The network has this many transformer blocks, 1 or more.
  int heads = 4;                 ///< The attention of each block has this many heads.
  std::int64_t width = 128;      ///< Each token has this many features, a multiple of `heads`.
  std::int64_t context = 64;     ///< A sample has this many tokens.
  std::int64_t vocabulary = 65;  ///< There are this many different tokens.
  double dropout = 0;            ///< This share of the features is dropped in training.
};

/// Returns a decoder-only transformer (Radford et al., "Language Models are Unsupervised Multitask
/// Learners") without biases, whose head uses the weight of the token embedding. Its inputs are
/// "tokens" and "next", i64 [N,context]; its outputs are "logits" [N,context,vocabulary] and
/// "loss", the mean cross-entropy, which is also what training minimizes. The blocks are "embed",
/// "h.0", "h.1" and so on, and "head". @throws Error invalid_argument for sizes that are out of
/// range.
Model gpt(const GptOptions& options, std::uint64_t seed);

/// Returns the network of gpt() in the form that writes a text token by token. Its inputs are
/// "token", i64 [1,1], and "position", i64 [1], which says where in the text the token is, from 0
/// to context - 1; its output is "logits" [1,1,vocabulary], for the token that follows. The
/// parameters are those of gpt(), and take their values by copy_parameters(). The keys and values
/// of earlier tokens stay on the IPUs (Model::cached_attention()). @throws Error as gpt().
Model gpt_decoder(const GptOptions& options);

/// Gives each parameter of `to` the value that the parameter of that name has in `from`.
/// @throws Error invalid_argument if `from` lacks one, and as Model::weight(); then nothing has
/// changed. It also throws as Model::set_weight().
void copy_parameters(const Model& from, Model& to);

}  // namespace penstock::networks
