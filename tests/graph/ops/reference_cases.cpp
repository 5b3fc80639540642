#include "tests/graph/ops/reference_cases.hpp"

#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "graph/ops/list.hpp"

namespace penstock::graph {
namespace {

ValueId conv2d(ReferenceTape& tape) {
  return tape.apply("conv2d", {tape.in("x"), tape.in("weight"), tape.in("bias")},
                    {{"stride", tape.integer("stride")},
                     {"padding", tape.integer("padding")},
                     {"dilation", tape.integer("dilation")},
                     {"groups", tape.integer("groups")}})[0];
}

ValueId linear(ReferenceTape& tape) {
  return tape.apply("linear", {tape.in("x"), tape.in("weight"), tape.in("bias")})[0];
}

/// Applies the op that the file is named after to one input, without attributes.
ValueId unary(ReferenceTape& tape) {
  return tape.apply(tape.text("op"), {tape.in("x")})[0];
}

ValueId leaky_relu(ReferenceTape& tape) {
  return tape.apply("leaky_relu", {tape.in("x")},
                    {{"negative_slope", tape.real("negative_slope")}})[0];
}

ValueId along_axis(ReferenceTape& tape) {
  return tape.apply(tape.text("op"), {tape.in("x")}, {{"axis", tape.integer("dim")}})[0];
}

ValueId avg_pool2d(ReferenceTape& tape) {
  return tape.apply("avg_pool2d", {tape.in("x")},
                    {{"kernel", tape.integer("kernel")}, {"stride", tape.integer("stride")}})[0];
}

ValueId max_pool2d(ReferenceTape& tape) {
  return tape.apply("max_pool2d", {tape.in("x")},
                    {{"kernel", tape.integer("kernel")},
                     {"stride", tape.integer("stride")},
                     {"padding", tape.integer("padding")}})[0];
}

ValueId matmul(ReferenceTape& tape) {
  return tape.apply("matmul", {tape.in("a"), tape.in("b")})[0];
}

/// Builds the cases of files such as "mul_broadcast", whose op is "mul".
ValueId broadcast(ReferenceTape& tape) {
  const std::string& file = tape.text("op");
  return tape.apply(file.substr(0, file.find('_')), {tape.in("a"), tape.in("b")})[0];
}

/// Returns the attributes that losses have, as far as the file has them: whole numbers and real
/// ones.
Attributes loss_attributes(ReferenceTape& tape) {
  Attributes attributes{{"reduction", tape.text("reduction")}};
  const auto& metadata = tape.file().metadata;
  for (const char* name :
       {"ignore_index", "log_target", "log_input", "full", "p", "swap", "blank", "zero_infinity"})
    if (metadata.contains(name)) attributes.set(name, tape.integer(name));
  for (const char* name : {"label_smoothing", "beta", "eps", "margin"})
    if (metadata.contains(name)) attributes.set(name, tape.real(name));
  return attributes;
}

/// Returns the longest name of an op with which the file's name begins, such as "mse_loss" for
/// "mse_loss_sum".
std::string loss_name(ReferenceTape& tape) {
  const std::string& file = tape.text("op");
  std::string_view longest;
  for (const Op* op : all_ops())
    if (file.starts_with(op->name) && op->name.size() > longest.size()) longest = op->name;
  return std::string(longest);
}

ValueId loss_of(ReferenceTape& tape, const std::vector<const char*>& inputs) {
  std::vector<ValueId> values;
  for (const char* input : inputs) values.push_back(tape.in(input));
  return tape.apply(loss_name(tape), values, loss_attributes(tape))[0];
}

ValueId pair_loss(ReferenceTape& tape) {
  return loss_of(tape, {"x", "target"});
}

ValueId ranked_loss(ReferenceTape& tape) {
  return loss_of(tape, {"a", "b", "target"});
}

ValueId triplet_margin_loss(ReferenceTape& tape) {
  return loss_of(tape, {"anchor", "near", "far"});
}

ValueId cross_entropy(ReferenceTape& tape) {
  return loss_of(tape, {"x", "labels"});
}

ValueId nll_loss(ReferenceTape& tape) {
  const auto log_probabilities =
      tape.apply("log_softmax", {tape.in("x")}, {{"axis", std::int64_t{1}}});
  return tape.apply("nll_loss", {log_probabilities[0], tape.in("labels")},
                    loss_attributes(tape))[0];
}

ValueId ctc_loss(ReferenceTape& tape) {
  const auto scores = tape.apply("log_softmax", {tape.in("x")}, {{"axis", std::int64_t{2}}});
  return tape.apply("ctc_loss", {scores[0], tape.in("labels"), tape.in("steps"), tape.in("counts")},
                    loss_attributes(tape))[0];
}

ValueId batch_norm2d_eval(ReferenceTape& tape) {
  return tape.apply("batch_norm_inference",
                    {tape.in("x"), tape.in("weight"), tape.in("bias"), tape.in("running_mean"),
                     tape.in("running_var")},
                    {{"eps", tape.real("eps")}})[0];
}

/// Applies batch norm in training. Its running statistics start where PyTorch's do.
ValueId batch_norm2d_train(ReferenceTape& tape) {
  const Shape channels{6};
  const std::vector<float> ones(6, 1.0f);
  const ValueId mean = tape.tape().leaf(Tensor::zeros(DType::f32, channels));
  const ValueId variance = tape.tape().leaf({channels, std::span<const float>(ones)});
  const auto outputs =
      tape.apply("batch_norm", {tape.in("x"), tape.in("weight"), tape.in("bias"), mean, variance},
                 {{"eps", tape.real("eps")}, {"momentum", tape.real("momentum")}});
  tape.also_computes("running_mean", outputs[3]);
  tape.also_computes("running_var", outputs[4]);
  return outputs[0];
}

ValueId group_norm(ReferenceTape& tape) {
  return tape.apply("group_norm", {tape.in("x"), tape.in("weight"), tape.in("bias")},
                    {{"num_groups", tape.integer("num_groups")}, {"eps", tape.real("eps")}})[0];
}

ValueId layer_norm(ReferenceTape& tape) {
  return tape.apply("layer_norm", {tape.in("x"), tape.in("weight"), tape.in("bias")},
                    {{"eps", tape.real("eps")}})[0];
}

ValueId embedding(ReferenceTape& tape) {
  return tape.apply("embedding", {tape.in("weight"), tape.in("ids")})[0];
}

/// Computes softmax(mask(q·kᵀ/√d))·v.
ValueId causal_attention(ReferenceTape& tape) {
  const ValueId q = tape.in("q"), k = tape.in("k"), v = tape.in("v");
  const double size = static_cast<double>(tape.tape()[q].shape()[-1]);
  const auto transposed =
      tape.apply("transpose", {k}, {{"axes", std::vector<std::int64_t>{0, 1, 3, 2}}});
  const auto products = tape.apply("matmul", {q, transposed[0]});
  const auto scores = tape.apply("scale", products, {{"factor", 1 / std::sqrt(size)}});
  const auto weights = tape.apply("softmax", tape.apply("causal_mask", scores));
  return tape.apply("matmul", {weights[0], v})[0];
}

/// Returns those of the attributes `names` that the file has, which are whole numbers.
Attributes integers_of(const ReferenceTape& tape, std::initializer_list<const char*> names) {
  Attributes attributes;
  for (const char* name : names)
    if (tape.file().metadata.contains(name)) attributes.set(name, tape.integer(name));
  return attributes;
}

/// Builds an attention with the masks that the file has.
ValueId attention(ReferenceTape& tape) {
  Attributes attributes = integers_of(tape, {"heads", "kv_heads", "causal"});
  std::vector<ValueId> inputs;
  for (const char* name : {"qkv", "q", "k", "v", "key_padding_mask", "attn_mask"}) {
    if (!tape.file().tensors.contains(std::string("in.") + name)) continue;
    inputs.push_back(tape.in(name));
    if (std::string_view(name).ends_with("mask")) attributes.set(name, std::int64_t{1});
  }
  return tape.apply("attention", inputs, attributes)[0];
}

ValueId rotary_embedding(ReferenceTape& tape) {
  Attributes attributes = integers_of(tape, {"heads", "features", "interleaved"});
  if (tape.file().metadata.contains("base")) attributes.set("base", tape.real("base"));
  return tape.apply("rotary_embedding", {tape.in("x")}, attributes)[0];
}

/// Builds a recurrent layer, whose op is named before the first "_" of the file's name, from the
/// inputs that the file has. The linear layer computes what the gates get from the input.
ValueId recurrent(ReferenceTape& tape) {
  const auto has = [&](const char* name) {
    return tape.file().tensors.contains(std::string("in.") + name);
  };
  const std::string op = tape.text("op").substr(0, tape.text("op").find('_'));
  Attributes attributes{{"reverse", tape.integer("reverse")}};
  if (op == "rnn") attributes.set("nonlinearity", tape.text("nonlinearity"));
  std::vector<ValueId> input{tape.in("x"), tape.in("weight_ih")};
  if (has("bias_ih")) input.push_back(tape.in("bias_ih"));
  std::vector<ValueId> inputs{tape.apply("linear", input)[0], tape.in("weight_hh")};
  for (const auto& [name, flag] :
       {std::pair("bias_hh", "bias"), {"h", "initial"}, {"c", "initial"}, {"lengths", "lengths"}})
    if (has(name)) {
      inputs.push_back(tape.in(name));
      attributes.set(flag, std::int64_t{1});
    }
  const auto outputs = tape.apply(op, inputs, attributes);
  tape.also_computes("h", outputs[1]);
  if (op == "lstm") tape.also_computes("c", outputs[2]);
  return outputs[0];
}

constexpr ReferenceCase cases[] = {
    {"gru_lengths", recurrent},
    {"gru_lengths_reverse", recurrent},
    {"gru_one_step", recurrent},
    {"gru_plain", recurrent},
    {"lstm_initial", recurrent},
    {"lstm_lengths", recurrent},
    {"lstm_lengths_reverse", recurrent},
    {"lstm_one_step", recurrent},
    {"lstm_plain", recurrent},
    {"rnn_lengths_reverse", recurrent},
    {"rnn_plain", recurrent},
    {"rnn_relu", recurrent},
    {"attention_masks", attention},
    {"attention_packed_padding", attention},
    {"causal_attention", causal_attention},
    {"rotary_embedding", rotary_embedding},
    {"rotary_embedding_interleaved", rotary_embedding},
    {"embedding", embedding},
    {"batch_norm2d_eval", batch_norm2d_eval},
    {"batch_norm2d_train", batch_norm2d_train},
    {"group_norm", group_norm},
    {"layer_norm", layer_norm},
    {"add_broadcast", broadcast},
    {"avg_pool2d_k2", avg_pool2d},
    {"conv2d_depthwise", conv2d},
    {"conv2d_dil2_groups2", conv2d},
    {"conv2d_k1_s2", conv2d},
    {"conv2d_k3_s2_p1", conv2d},
    {"conv2d_k5", conv2d},
    {"conv2d_k5_c10", conv2d},
    {"conv2d_k7_s2_p3", conv2d},
    {"cross_entropy_label_smoothing", cross_entropy},
    {"cross_entropy_mean", cross_entropy},
    {"cross_entropy_sum", cross_entropy},
    {"gelu", unary},
    {"global_avg_pool2d", unary},
    {"leaky_relu", leaky_relu},
    {"linear", linear},
    {"log_softmax", along_axis},
    {"matmul_batched", matmul},
    {"max_pool2d_2", max_pool2d},
    {"max_pool2d_k3_s2_p1", max_pool2d},
    {"mse_loss", pair_loss},
    {"mul_broadcast", broadcast},
    {"nll_loss_mean", nll_loss},
    {"nll_loss_sum", nll_loss},
    {"relu", unary},
    {"sigmoid", unary},
    {"silu", unary},
    {"softmax", along_axis},
    {"tanh", unary},
    {"binary_cross_entropy_mean", pair_loss},
    {"binary_cross_entropy_none", pair_loss},
    {"binary_cross_entropy_sum", pair_loss},
    {"binary_cross_entropy_with_logits_mean", pair_loss},
    {"binary_cross_entropy_with_logits_none", pair_loss},
    {"binary_cross_entropy_with_logits_sum", pair_loss},
    {"cosine_embedding_loss_mean", ranked_loss},
    {"cosine_embedding_loss_none", ranked_loss},
    {"cosine_embedding_loss_sum", ranked_loss},
    {"cross_entropy_maps_mean", cross_entropy},
    {"cross_entropy_maps_none", cross_entropy},
    {"cross_entropy_maps_sum", cross_entropy},
    {"ctc_loss_mean", ctc_loss},
    {"ctc_loss_none", ctc_loss},
    {"ctc_loss_sum", ctc_loss},
    {"hinge_embedding_loss_mean", pair_loss},
    {"hinge_embedding_loss_none", pair_loss},
    {"hinge_embedding_loss_sum", pair_loss},
    {"kl_div_loss_mean", pair_loss},
    {"kl_div_loss_none", pair_loss},
    {"kl_div_loss_sum", pair_loss},
    {"kl_div_loss_log_target_mean", pair_loss},
    {"kl_div_loss_log_target_none", pair_loss},
    {"kl_div_loss_log_target_sum", pair_loss},
    {"l1_loss_mean", pair_loss},
    {"l1_loss_none", pair_loss},
    {"l1_loss_sum", pair_loss},
    {"margin_ranking_loss_mean", ranked_loss},
    {"margin_ranking_loss_none", ranked_loss},
    {"margin_ranking_loss_sum", ranked_loss},
    {"multilabel_soft_margin_loss_mean", pair_loss},
    {"multilabel_soft_margin_loss_none", pair_loss},
    {"multilabel_soft_margin_loss_sum", pair_loss},
    {"nll_loss_maps_mean", nll_loss},
    {"nll_loss_maps_none", nll_loss},
    {"nll_loss_maps_sum", nll_loss},
    {"poisson_nll_loss_mean", pair_loss},
    {"poisson_nll_loss_none", pair_loss},
    {"poisson_nll_loss_sum", pair_loss},
    {"poisson_nll_loss_full_mean", pair_loss},
    {"poisson_nll_loss_full_none", pair_loss},
    {"poisson_nll_loss_full_sum", pair_loss},
    {"smooth_l1_loss_mean", pair_loss},
    {"smooth_l1_loss_none", pair_loss},
    {"smooth_l1_loss_sum", pair_loss},
    {"soft_margin_loss_mean", pair_loss},
    {"soft_margin_loss_none", pair_loss},
    {"soft_margin_loss_sum", pair_loss},
    {"triplet_margin_loss_mean", triplet_margin_loss},
    {"triplet_margin_loss_none", triplet_margin_loss},
    {"triplet_margin_loss_sum", triplet_margin_loss},
    {"triplet_margin_loss_swap_mean", triplet_margin_loss},
    {"triplet_margin_loss_swap_none", triplet_margin_loss},
    {"triplet_margin_loss_swap_sum", triplet_margin_loss},
};

}  // namespace

std::span<const ReferenceCase> reference_cases() {
  return cases;
}

}  // namespace penstock::graph
