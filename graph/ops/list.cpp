#include "graph/ops/list.hpp"

#include <array>
#include <string>

#include "graph/ops/activations/dropout.hpp"
#include "graph/ops/activations/leaky_relu.hpp"
#include "graph/ops/activations/piecewise.hpp"
#include "graph/ops/activations/prelu.hpp"
#include "graph/ops/activations/smooth.hpp"
#include "graph/ops/activations/softmax.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/cumsum.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/arithmetic/expand.hpp"
#include "graph/ops/arithmetic/interpolate.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/arithmetic/logsumexp.hpp"
#include "graph/ops/arithmetic/matmul.hpp"
#include "graph/ops/arithmetic/power.hpp"
#include "graph/ops/arithmetic/prod.hpp"
#include "graph/ops/arithmetic/reductions.hpp"
#include "graph/ops/arithmetic/sums.hpp"
#include "graph/ops/arithmetic/vector_norm.hpp"
#include "graph/ops/casts/casts.hpp"
#include "graph/ops/convolution/avg_pool2d.hpp"
#include "graph/ops/convolution/conv2d.hpp"
#include "graph/ops/convolution/conv2d_inference.hpp"
#include "graph/ops/convolution/conv2d_pack.hpp"
#include "graph/ops/convolution/conv_transpose2d.hpp"
#include "graph/ops/convolution/max_pool2d.hpp"
#include "graph/ops/convolution/pointwise_lanes.hpp"
#include "graph/ops/custom/custom.hpp"
#include "graph/ops/indexing/gather.hpp"
#include "graph/ops/lanes/conv2d_lanes.hpp"
#include "graph/ops/lanes/conv2d_pool_relu_lanes.hpp"
#include "graph/ops/lanes/depthwise_lanes.hpp"
#include "graph/ops/lanes/max_pool2d_lanes.hpp"
#include "graph/ops/lanes/to_lanes.hpp"
#include "graph/ops/losses/binary_cross_entropy.hpp"
#include "graph/ops/losses/class_losses.hpp"
#include "graph/ops/losses/class_margin_losses.hpp"
#include "graph/ops/losses/clipped_log.hpp"
#include "graph/ops/losses/cosine_embedding_loss.hpp"
#include "graph/ops/losses/ctc_loss.hpp"
#include "graph/ops/losses/difference_loss.hpp"
#include "graph/ops/losses/distribution_losses.hpp"
#include "graph/ops/losses/gaussian_nll_loss.hpp"
#include "graph/ops/losses/identity_loss.hpp"
#include "graph/ops/losses/margin_losses.hpp"
#include "graph/ops/losses/triplet_margin_loss.hpp"
#include "graph/ops/movement/concat.hpp"
#include "graph/ops/movement/index_select.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/movement/slices.hpp"
#include "graph/ops/movement/squeeze.hpp"
#include "graph/ops/movement/triangles.hpp"
#include "graph/ops/norms/batch_norm.hpp"
#include "graph/ops/norms/batch_norm_gradients.hpp"
#include "graph/ops/norms/batch_norm_inference.hpp"
#include "graph/ops/norms/group_norm.hpp"
#include "graph/ops/norms/layer_norm.hpp"
#include "graph/ops/norms/rms_norm.hpp"
#include "graph/ops/order/argmax.hpp"
#include "graph/ops/order/sort.hpp"
#include "graph/ops/recurrent/gru.hpp"
#include "graph/ops/recurrent/lstm.hpp"
#include "graph/ops/recurrent/rnn.hpp"
#include "graph/ops/sequences/attention.hpp"
#include "graph/ops/sequences/attention_mask_gradient.hpp"
#include "graph/ops/sequences/cached_attention.hpp"
#include "graph/ops/sequences/causal_mask.hpp"
#include "graph/ops/sequences/embedding.hpp"
#include "graph/ops/sequences/rotary_embedding.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

constexpr std::array ops{
    &abs,
    &accumulate,
    &add,
    &amax,
    &amin,
    &argmax,
    &argmin,
    &attention,
    &attention_dropout,
    &attention_gradient,
    &attention_mask_gradient,
    &avg_pool2d,
    &avg_pool2d_gradient,
    &batch_norm,
    &batch_norm_gradients,
    &batch_norm_inference,
    &batch_norm_inference_input_gradient,
    &batch_norm_inference_weight_gradient,
    &binary_cross_entropy,
    &binary_cross_entropy_gradient,
    &binary_cross_entropy_target_gradient,
    &binary_cross_entropy_with_logits,
    &binary_cross_entropy_with_logits_gradient,
    &binary_cross_entropy_with_logits_target_gradient,
    &cached_attention,
    &causal_mask,
    &causal_mask_gradient,
    &ceil,
    &channel_sum,
    &channel_sum_lanes,
    &clamp,
    &clamp_gradient,
    &clamped_batch_norm_gradients,
    &clipped_log,
    &clipped_log_gradient,
    &concat,
    &conv2d,
    &conv2d_inference,
    &conv2d_input_gradient,
    &conv2d_lanes,
    &conv2d_lanes_input_gradient,
    &conv2d_lanes_weight_gradient,
    &conv2d_pack,
    &conv2d_pool_relu_lanes,
    &conv2d_pool_relu_lanes_input_gradient,
    &conv2d_pool_relu_lanes_weight_gradient,
    &conv2d_weight_gradient,
    &conv_transpose2d,
    &cos,
    &cosine_embedding_loss,
    &cosine_embedding_loss_gradient,
    &cross_entropy,
    &cross_entropy_gradient,
    &ctc_loss,
    &ctc_loss_gradient,
    &cumsum,
    &cumulative_batch_norm,
    &custom,
    &custom_constant,
    &custom_gradient,
    &depthwise_conv2d_lanes,
    &depthwise_conv2d_lanes_input_gradient,
    &depthwise_conv2d_lanes_weight_gradient,
    &div,
    &dropout,
    &dropout_gradient,
    &elu,
    &elu_gradient,
    &embedding,
    &embedding_gradient,
    &equal,
    &erf,
    &exp,
    &expand,
    &fill,
    &finished_batch_norm,
    &finished_cumulative_batch_norm,
    &finished_untracked_batch_norm,
    &flatten,
    &floor,
    &from_lanes,
    &gather,
    &gaussian_nll_loss,
    &gaussian_nll_loss_gradient,
    &gaussian_nll_loss_variance_gradient,
    &gelu,
    &gelu_gradient,
    &gelu_tanh,
    &gelu_tanh_gradient,
    &global_avg_pool2d,
    &global_avg_pool2d_gradient,
    &group_norm,
    &group_norm_input_gradient,
    &group_norm_weight_gradient,
    &gru,
    &gru_gradient,
    &hardshrink,
    &hardshrink_gradient,
    &hardsigmoid,
    &hardsigmoid_gradient,
    &hardswish,
    &hardswish_gradient,
    &hardtanh,
    &hardtanh_gradient,
    &hinge_embedding_loss,
    &hinge_embedding_loss_gradient,
    &huber_loss,
    &huber_loss_gradient,
    &identity,
    &identity_loss,
    &identity_loss_gradient,
    &index_select,
    &index_select_gradient,
    &interpolate,
    &interpolate_gradient,
    &kl_div_loss,
    &kl_div_loss_gradient,
    &kl_div_loss_target_gradient,
    &l1_loss,
    &l1_loss_gradient,
    &layer_norm,
    &layer_norm_input_gradient,
    &layer_norm_weight_gradient,
    &leaky_relu,
    &leaky_relu_gradient,
    &less,
    &less_equal,
    &linear,
    &linear_input_gradient,
    &linear_weight_gradient,
    &log,
    &log_softmax,
    &log_softmax_gradient,
    &logsigmoid,
    &logsigmoid_gradient,
    &logsumexp,
    &lstm,
    &lstm_gradient,
    &margin_ranking_loss,
    &margin_ranking_loss_gradient,
    &matmul,
    &max_pool2d,
    &max_pool2d_gradient,
    &max_pool2d_lanes,
    &max_pool2d_lanes_gradient,
    &maximum,
    &mean,
    &minimum,
    &mish,
    &mish_gradient,
    &mse_loss,
    &mse_loss_gradient,
    &mul,
    &multi_margin_loss,
    &multi_margin_loss_gradient,
    &multilabel_margin_loss,
    &multilabel_margin_loss_gradient,
    &multilabel_soft_margin_loss,
    &multilabel_soft_margin_loss_gradient,
    &nll_loss,
    &nll_loss_gradient,
    &one_hot,
    &pad,
    &pointwise_conv2d_lanes,
    &pointwise_conv2d_lanes_input_gradient,
    &pointwise_conv2d_lanes_weight_gradient,
    &poisson_nll_loss,
    &poisson_nll_loss_gradient,
    &poisson_nll_loss_target_gradient,
    &pow,
    &power,
    &prelu,
    &prelu_input_gradient,
    &prelu_weight_gradient,
    &prod,
    &prod_gradient,
    &reciprocal,
    &reduce_to,
    &relu,
    &relu_gradient,
    &reshape,
    &rms_norm,
    &rms_norm_input_gradient,
    &rms_norm_weight_gradient,
    &rnn,
    &rnn_gradient,
    &rotary_embedding,
    &round,
    &rsqrt,
    &scale,
    &scatter_add,
    &sigmoid,
    &sigmoid_gradient,
    &sign,
    &silu,
    &silu_gradient,
    &sin,
    &slice,
    &smooth_l1_loss,
    &smooth_l1_loss_gradient,
    &soft_margin_loss,
    &soft_margin_loss_gradient,
    &soft_margin_loss_target_gradient,
    &softmax,
    &softmax_gradient,
    &softplus,
    &softplus_gradient,
    &softshrink,
    &softshrink_gradient,
    &softsign,
    &softsign_gradient,
    &sort,
    &sqrt,
    &squeeze,
    &stop_gradient,
    &sub,
    &sum,
    &tanh,
    &tanh_gradient,
    &threshold,
    &threshold_gradient,
    &to_float,
    &to_i64,
    &to_index,
    &to_lanes,
    &transpose,
    &tril,
    &triplet_margin_loss,
    &triplet_margin_loss_gradient,
    &triu,
    &unsqueeze,
    &untracked_batch_norm,
    &vector_norm,
    &where,
};

}  // namespace

std::span<const Op* const> all_ops() {
  return ops;
}

const Op& find_op(std::string_view name) {
  for (const Op* op : ops)
    if (op->name == name) return *op;
  throw Error(Errc::invalid_model, "there is no op named \"" + std::string(name) + "\"");
}

}  // namespace penstock::graph
