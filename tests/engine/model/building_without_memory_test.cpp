// In these tests, each allocation of a function that builds or changes a model fails in turn, one
// per call. If the call fails because of that, the host gets Error out_of_memory, the model is as
// before, and the same call works once there is memory. The host may also assign to the model's
// handle inside such a function, as its new-handler may. The function then changes the model with
// which it has begun.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/model_access.hpp"
#include "graph/plan/dump.hpp"
#include "penstock/model.hpp"
#include "penstock/sequential.hpp"
#include "tests/support/without_memory.hpp"

namespace penstock::testing {
namespace {

/// This is a name that is too long for a string without memory of its own.
const std::string name = "a name that is too long for a string without memory of its own";
const std::string other = "another name that is too long for a string without its own memory";
const std::string first_layer = "the first layer, which is there already";

const std::vector<int> last_axis{-1};
const BatchNormOptions cumulative{.momentum = std::nullopt, .affine = false};
const BatchNormOptions untracked{.track_running_stats = false};
const Conv2dOptions reflecting{
    .out_channels = 2, .kernel = 3, .padding = 1, .padding_mode = PadMode::reflect};
const AttentionOptions dropping{.heads = 2, .dropout = 0.1, .name = name};

/// A Built has a model with values of all the shapes that layers take.
struct Built {
  Model model{"built"};
  Value volume = model.input("volume", {2, 3, 3, 3}), column = model.input("column", {1});
  Value classes = model.input("classes", {6}, DType::i64);
  Value image = model.input("image", {4, 6, 6}), row = model.input("row", {6});
  Value target = model.input("target", {6}), labels = model.labels();
  Value small_ids = model.input("small ids", {3}, DType::i32);
  Value ids = model.input("ids", {3}, DType::i64), part = model.input("part", {3}),
        single = model.input("single", {1, 3});
  Value sequence = model.input("sequence", {3, 4}), sign = model.input("sign", {});
  Value steps = model.input("steps", {}, DType::i64),
        counts = model.input("counts", {}, DType::i64);
  Value linear = model.linear(first_layer, row, 6);
  Value weight = model.parameter(first_layer + ".weight");
  Value bias = model.parameter(first_layer + ".bias");
  Sequential chain{model, linear};
};

/// Returns the bytes of a tensor of floats.
std::string bytes_of(const Tensor& tensor) {
  const auto bytes = std::as_bytes(tensor.as<float>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns the shape of the parameter that would be the weight of a layer called `name`, or "none"
/// if there is no such parameter.
std::string shared_weight(const Built& built) {
  try {
    const Value weight = built.model.parameter(name + ".weight");
    return to_string(built.model.shape(weight));
  } catch (const Error&) {
    return "none";
  }
}

/// Returns all that a model consists of, including the values of its parameters, as text.
std::string content(const Built& built) {
  const graph::Graph& graph = ModelAccess::graph(built.model);
  std::string text = graph::dump(graph) + "loss " + std::to_string(graph.loss) + '\n';
  for (const graph::Value& value : graph.values)
    text += value.name + ' ' + to_string(value.type) + (value.checkpoint ? " kept\n" : "\n");
  for (const graph::Block& block : graph.blocks)
    text += block.name + ' ' + std::to_string(block.ipu) + ' ' + std::to_string(block.stage) + '\n';
  for (const ParameterInfo& parameter : built.model.parameters())
    text += parameter.name + ' ' + to_string(parameter.shape) +
            (parameter.frozen ? " frozen " : " ") + bytes_of(built.model.weight(parameter.name)) +
            '\n';
  return text + shared_weight(built) + std::to_string(graph.inputs.size()) + '\n' +
         to_string(built.chain);
}

using Call = std::function<void(Built&)>;
using Calls = std::vector<std::pair<std::string, Call>>;

/// Expects that `call` gives the model the content `after`, whichever allocation of the call
/// assigns another model to the handle.
void expect_to_keep_the_model(const Call& prepare, const Call& call, const std::string& after) {
  for (std::int64_t number = 1;; ++number) {
    SCOPED_TRACE("assigned at allocation " + std::to_string(number));
    Built built;
    prepare(built);
    Model kept = built.model;
    const Model another;
    const AtAllocation assignment(number, [&] { built.model = another; });
    ASSERT_NO_THROW(call(built));
    if (!assignment.reached()) break;
    built.model = kept;
    ASSERT_EQ(content(built), after);
    ASSERT_LT(number, 20000);
  }
}

void expect_all_or_nothing(const std::string& title, const Call& prepare, const Call& call) {
  SCOPED_TRACE(title);
  Built undisturbed;
  prepare(undisturbed);
  const std::string before = content(undisturbed);
  call(undisturbed);
  const std::string after = content(undisturbed);
  std::int64_t refused = 0;
  for (std::int64_t number = 1;; ++number) {
    SCOPED_TRACE("allocation " + std::to_string(number));
    Built built;
    prepare(built);
    const CallOutcome outcome = call_without_memory(number, [&] { call(built); });
    ASSERT_FALSE(outcome.raw_exception);
    if (outcome.refusal) {
      ++refused;
      ASSERT_EQ(outcome.refusal, Errc::out_of_memory);
      ASSERT_EQ(content(built), before);
      ASSERT_NO_THROW(call(built));
    }
    ASSERT_EQ(content(built), after);
    if (!outcome.reached) break;
    ASSERT_LT(number, 20000);
  }
  EXPECT_GE(refused, 1);
  expect_to_keep_the_model(prepare, call, after);
}

void expect_all_or_nothing(
    const Calls& calls, const Call& prepare = [](Built&) {}) {
  for (const auto& [title, call] : calls) expect_all_or_nothing(title, prepare, call);
}

TEST(BuildingWithoutMemory, AddsALayerWithParametersOrNothing) {
  const Tensor zeros = Tensor::zeros(DType::f32, {3});
  expect_all_or_nothing({
      {"conv2d", [](Built& b) { b.model.conv2d(name, b.image, {.out_channels = 2, .kernel = 3}); }},
      {"conv1d",
       [](Built& b) { b.model.conv1d(name, b.sequence, {.out_channels = 2, .kernel = 3}); }},
      {"conv_transpose2d",
       [](Built& b) { b.model.conv_transpose2d(name, b.image, {.out_channels = 2, .kernel = 3}); }},
      {"conv2d with reflected padding",
       [](Built& b) { b.model.conv2d(name, b.image, reflecting); }},
      {"conv1d with the same size",
       [](Built& b) {
         b.model.conv1d(name, b.sequence, {.out_channels = 2, .kernel = 2, .same_padding = true});
       }},
      {"conv3d",
       [](Built& b) {
         b.model.conv3d(name, b.volume, {.out_channels = 2, .kernel = 2, .same_padding = true});
       }},
      {"conv_transpose3d",
       [](Built& b) {
         b.model.conv_transpose3d(name, b.volume, {.out_channels = 2, .kernel = 2, .stride = 2});
       }},
      {"conv_transpose1d",
       [](Built& b) {
         b.model.conv_transpose1d(name, b.sequence, {.out_channels = 2, .kernel = 3});
       }},
      {"linear", [](Built& b) { b.model.linear(name, b.row, 3); }},
      {"parameter",
       [](Built& b) {
         b.model.parameter(name, {3, 4}, Initializer::orthogonal());
       }},
      {"share_parameters", [](Built& b) { b.model.share_parameters(name, first_layer); }},
      {"pow", [](Built& b) { b.model.pow(b.row, 2); }},
      {"pow of values", [](Built& b) { b.model.pow(b.row, b.row); }},
      {"not_equal", [](Built& b) { b.model.not_equal(b.row, 2); }},
      {"lp_pool3d", [](Built& b) { b.model.lp_pool3d(b.volume, 2); }},
      {"var", [](Built& b) { b.model.var(b.sequence, last_axis); }},
      {"where", [](Built& b) { b.model.where(b.row, b.row, b.row); }},
      {"linear of a weight", [](Built& b) { b.model.linear(b.row, b.weight); }},
      {"linear of a weight and a bias", [](Built& b) { b.model.linear(b.row, b.weight, b.bias); }},
      {"constant", [&](Built& b) { b.model.constant(name, zeros); }},
      {"group_norm", [](Built& b) { b.model.group_norm(name, b.image, 2); }},
      {"layer_norm", [](Built& b) { b.model.layer_norm(name, b.row); }},
      {"batch_norm2d", [](Built& b) { b.model.batch_norm2d(name, b.image); }},
      {"batch_norm1d", [](Built& b) { b.model.batch_norm1d(name, b.row, cumulative); }},
      {"batch_norm3d", [](Built& b) { b.model.batch_norm3d(name, b.volume, untracked); }},
      {"instance_norm", [](Built& b) { b.model.instance_norm(name, b.image); }},
      {"rms_norm", [](Built& b) { b.model.rms_norm(name, b.row); }},
      {"weight_norm",
       [](Built& b) {
         b.model.weight_norm(name, {3, 4});
       }},
      {"prelu", [](Built& b) { b.model.prelu(name, b.image, 4); }},
      {"dropout1d", [](Built& b) { b.model.dropout1d(name, b.sequence, 0.5); }},
      {"dropout2d", [](Built& b) { b.model.dropout2d(name, b.image, 0.5); }},
      {"dropout3d", [](Built& b) { b.model.dropout3d(name, b.volume, 0.5); }},
      {"alpha_dropout", [](Built& b) { b.model.alpha_dropout(name, b.row, 0.5); }},
      {"feature_alpha_dropout",
       [](Built& b) { b.model.feature_alpha_dropout(name, b.image, 0.5); }},
      {"elu", [](Built& b) { b.model.elu(b.row); }},
      {"softplus", [](Built& b) { b.model.softplus(b.row); }},
      {"hardtanh", [](Built& b) { b.model.hardtanh(b.row); }},
      {"tanhshrink", [](Built& b) { b.model.tanhshrink(b.row); }},
      {"glu", [](Built& b) { b.model.glu(b.row); }},
      {"softmin", [](Built& b) { b.model.softmin(b.row); }},
      {"embedding", [](Built& b) { b.model.embedding(name, b.ids, 5, 2); }},
      {"embedding with padding", [](Built& b) { b.model.embedding(name, b.ids, 5, 2, 0); }},
      {"dropout", [](Built& b) { b.model.dropout(name, b.row, 0.5); }},
      {"input", [](Built& b) { b.model.input(name, {3}); }},
      {"attention",
       [](Built& b) { b.model.attention(b.sequence, b.sequence, b.sequence, {.causal = true}); }},
      {"lstm",
       [](Built& b) {
         b.model.lstm(name, b.sequence,
                      {.hidden_size = 2, .bidirectional = true, .lengths = b.steps});
       }},
      {"gru", [](Built& b) { b.model.gru(name, b.sequence, {.hidden_size = 2, .layers = 2}); }},
      {"rnn", [](Built& b) { b.model.rnn(name, b.sequence, {.hidden_size = 2}); }},
      {"multi_head_attention",
       [](Built& b) {
         b.model.multi_head_attention(
             name, b.sequence,
             {.heads = 2, .kv_heads = 1, .dropout = 0.1, .key_padding_mask = b.ids});
       }},
      {"multi_head_attention of others",
       [](Built& b) { b.model.multi_head_attention(name, b.sequence, b.single, b.single, {}); }},
      {"rotary_embedding", [](Built& b) { b.model.rotary_embedding(b.sequence); }},
      {"transformer_encoder_layer",
       [](Built& b) {
         b.model.transformer_encoder_layer(name, b.sequence, {.dim_feedforward = 3});
       }},
      {"transformer_decoder_layer",
       [](Built& b) {
         b.model.transformer_decoder_layer(name, b.sequence, b.sequence,
                                           {.dim_feedforward = 3, .dropout = 0});
       }},
      {"attention with dropout",
       [](Built& b) { b.model.attention(b.sequence, b.sequence, b.sequence, dropping); }},
  });
}

TEST(BuildingWithoutMemory, AddsALayerWithoutParametersOrNothing) {
  const std::vector<std::int64_t> sample{2, 3};
  const std::vector<std::int64_t> axes{0, 2, 1}, axes_of_row{-1}, halves{3, 3};
  const std::vector<Value> none;
  const InterpolateOptions nearest{.size = {4, 9}},
      doubling{.scale_factor = {2}, .mode = InterpolateMode::linear};
  expect_all_or_nothing({
      {"relu", [](Built& b) { b.model.relu(b.row); }},
      {"leaky_relu", [](Built& b) { b.model.leaky_relu(b.row); }},
      {"sigmoid", [](Built& b) { b.model.sigmoid(b.row); }},
      {"tanh", [](Built& b) { b.model.tanh(b.row); }},
      {"gelu", [](Built& b) { b.model.gelu(b.row); }},
      {"silu", [](Built& b) { b.model.silu(b.row); }},
      {"softmax", [](Built& b) { b.model.softmax(b.row); }},
      {"log_softmax", [](Built& b) { b.model.log_softmax(b.row); }},
      {"max_pool2d", [](Built& b) { b.model.max_pool2d(b.image); }},
      {"avg_pool2d", [](Built& b) { b.model.avg_pool2d(b.image); }},
      {"global_avg_pool2d", [](Built& b) { b.model.global_avg_pool2d(b.image); }},
      {"max_pool1d", [](Built& b) { b.model.max_pool1d(b.sequence); }},
      {"lp_pool2d", [](Built& b) { b.model.lp_pool2d(b.image, 2); }},
      {"adaptive_avg_pool2d",
       [](Built& b) {
         b.model.adaptive_avg_pool2d(b.image, {4, 5});
       }},
      {"max_pool3d", [](Built& b) { b.model.max_pool3d(b.volume); }},
      {"avg_pool3d", [](Built& b) { b.model.avg_pool3d(b.volume); }},
      {"adaptive_avg_pool1d", [](Built& b) { b.model.adaptive_avg_pool1d(b.sequence, 3); }},
      {"adaptive_max_pool3d", [](Built& b) { b.model.adaptive_max_pool3d(b.volume, 2); }},
      {"interpolate", [&](Built& b) { b.model.interpolate(b.image, nearest); }},
      {"interpolate linearly", [&](Built& b) { b.model.interpolate(b.volume, doubling); }},
      {"pixel_shuffle", [](Built& b) { b.model.pixel_shuffle(b.image, 2); }},
      {"flatten", [](Built& b) { b.model.flatten(b.image); }},
      {"reshape", [&](Built& b) { b.model.reshape(b.row, sample); }},
      {"transpose", [&](Built& b) { b.model.transpose(b.sequence, axes); }},
      {"slice", [](Built& b) { b.model.slice(b.row, 1, 0, 2); }},
      {"add", [](Built& b) { b.model.add(b.row, b.target); }},
      {"sub", [](Built& b) { b.model.sub(b.row, b.target); }},
      {"mul", [](Built& b) { b.model.mul(b.row, b.target); }},
      {"scale", [](Built& b) { b.model.scale(b.row, 2); }},
      {"matmul", [](Built& b) { b.model.matmul(b.row, b.weight); }},
      {"stop_gradient", [](Built& b) { b.model.stop_gradient(b.row); }},
      {"expand", [&](Built& b) { b.model.expand(b.row, axes_of_row); }},
      {"unsqueeze", [](Built& b) { b.model.unsqueeze(b.row, 1); }},
      {"squeeze", [](Built& b) { b.model.squeeze(b.single, 1); }},
      {"repeat", [&](Built& b) { b.model.repeat(b.sequence, sample); }},
      {"slice with a step", [](Built& b) { b.model.slice(b.row, 1, 0, 6, 2); }},
      {"split", [](Built& b) { b.model.split(b.row, 4); }},
      {"split by sizes", [&](Built& b) { b.model.split(b.row, halves); }},
      {"chunk", [](Built& b) { b.model.chunk(b.row, 2); }},
      {"unbind", [](Built& b) { b.model.unbind(b.sequence); }},
      {"pad", [&](Built& b) { b.model.pad(b.row, sample, {.mode = PadMode::circular}); }},
      {"flip", [](Built& b) { b.model.flip(b.row, last_axis); }},
      {"roll", [](Built& b) { b.model.roll(b.row, 1, 1); }},
      {"tril", [](Built& b) { b.model.tril(b.sequence); }},
      {"triu", [](Built& b) { b.model.triu(b.sequence); }},
      {"index_select", [&](Built& b) { b.model.index_select(b.row, 1, axes); }},
      {"gather", [](Built& b) { b.model.gather(b.row, 1, b.ids); }},
      {"scatter_add", [](Built& b) { b.model.scatter_add(b.row, 1, b.ids, b.part); }},
      {"one_hot", [](Built& b) { b.model.one_hot(b.ids, 4); }},
      {"one_hot of i32", [](Built& b) { b.model.one_hot(b.small_ids, 4); }},
      {"to_float", [](Built& b) { b.model.to_float(b.small_ids, 2, 1); }},
      {"to_float by channel", [](Built& b) { b.model.to_float(b.classes, b.bias, b.bias); }},
      {"to_i64", [](Built& b) { b.model.to_i64(b.small_ids); }},
      {"argmax", [](Built& b) { b.model.argmax(b.row, 1); }},
      {"argmin", [](Built& b) { b.model.argmin(b.row, 1); }},
      {"sort", [](Built& b) { b.model.sort(b.row); }},
      {"topk", [](Built& b) { b.model.topk(b.row, 2); }},
      {"prod", [](Built& b) { b.model.prod(b.row, last_axis); }},
      {"logsumexp", [](Built& b) { b.model.logsumexp(b.row, last_axis); }},
      {"norm", [](Built& b) { b.model.norm(b.row, last_axis, 1); }},
      {"norm by the maximum", [](Built& b) { b.model.norm(b.row, last_axis, HUGE_VAL); }},
      {"cumsum", [](Built& b) { b.model.cumsum(b.row, 1); }},
      {"a sum of values", [](Built& b) { static_cast<void>(b.row + b.target); }},
      {"a number less a value", [](Built& b) { static_cast<void>(1 - b.row); }},
  });
}

TEST(BuildingWithoutMemory, AddsALayerOfAListOrNothing) {
  std::vector<Value> parts;
  expect_all_or_nothing({{"concat", [&](Built& b) { b.model.concat(parts); }},
                         {"stack", [&](Built& b) { b.model.stack(parts); }}},
                        [&](Built& b) {
                          parts = {b.row, b.target};
                        });
}

TEST(BuildingWithoutMemory, AddsALossOrNothing) {
  expect_all_or_nothing({
      {"cross_entropy",
       [](Built& b) { b.model.cross_entropy(b.row, b.labels, {.from_logits = false}); }},
      {"nll_loss", [](Built& b) { b.model.nll_loss(b.row, b.labels); }},
      {"mse_loss", [](Built& b) { b.model.mse_loss(b.row, b.target); }},
      {"cross_entropy with weights",
       [](Built& b) { b.model.cross_entropy(b.row, b.labels, {.weight = b.bias}); }},
      {"huber_loss", [](Built& b) { b.model.huber_loss(b.row, b.target); }},
      {"gaussian_nll_loss", [](Built& b) { b.model.gaussian_nll_loss(b.row, b.target, b.column); }},
      {"multi_margin_loss", [](Built& b) { b.model.multi_margin_loss(b.row, b.labels); }},
      {"multilabel_margin_loss",
       [](Built& b) { b.model.multilabel_margin_loss(b.row, b.classes); }},
      {"binary_cross_entropy with weights",
       [](Built& b) {
         b.model.binary_cross_entropy(b.row, b.target, LossReduction::mean, b.bias);
       }},
      {"binary_cross_entropy_with_logits with weights",
       [](Built& b) {
         b.model.binary_cross_entropy_with_logits(b.row, b.target, LossReduction::mean, b.bias,
                                                  b.bias);
       }},
      {"l1_loss", [](Built& b) { b.model.l1_loss(b.row, b.target); }},
      {"smooth_l1_loss", [](Built& b) { b.model.smooth_l1_loss(b.row, b.target); }},
      {"binary_cross_entropy", [](Built& b) { b.model.binary_cross_entropy(b.row, b.target); }},
      {"binary_cross_entropy_with_logits",
       [](Built& b) { b.model.binary_cross_entropy_with_logits(b.row, b.target); }},
      {"kl_div_loss", [](Built& b) { b.model.kl_div_loss(b.row, b.target); }},
      {"poisson_nll_loss", [](Built& b) { b.model.poisson_nll_loss(b.row, b.target); }},
      {"hinge_embedding_loss", [](Built& b) { b.model.hinge_embedding_loss(b.row, b.target); }},
      {"soft_margin_loss", [](Built& b) { b.model.soft_margin_loss(b.row, b.target); }},
      {"multilabel_soft_margin_loss",
       [](Built& b) { b.model.multilabel_soft_margin_loss(b.row, b.target); }},
      {"cosine_embedding_loss",
       [](Built& b) { b.model.cosine_embedding_loss(b.row, b.target, b.sign); }},
      {"margin_ranking_loss",
       [](Built& b) { b.model.margin_ranking_loss(b.row, b.target, b.target); }},
      {"triplet_margin_loss",
       [](Built& b) { b.model.triplet_margin_loss(b.row, b.target, b.target); }},
      {"ctc_loss", [](Built& b) { b.model.ctc_loss(b.sequence, b.ids, b.steps, b.counts); }},
      {"identity_loss", [](Built& b) { b.model.identity_loss(b.row); }},
  });
}

TEST(BuildingWithoutMemory, ChangesBlocksAndStagesOrNothing) {
  LayerStages layers = Built().model.stage_assignment();
  for (LayerStage& layer : layers) layer.stage = 0;
  const Calls calls{
      {"begin_block", [](Built& b) { b.model.begin_block(other, 1); }},
      {"begin_block_at", [](Built& b) { b.model.begin_block_at(first_layer, other, 1); }},
      {"set_stage_assignment", [&](Built& b) { b.model.set_stage_assignment(layers); }},
      {"block", [](Built& b) { const BlockScope scope = b.model.block(other, 2); }},
      {"numbered block", [](Built& b) { const BlockScope scope = b.model.block(); }},
      {"pipeline_stage", [](Built& b) { const BlockScope scope = b.model.pipeline_stage(7); }},
      {"output", [](Built& b) { b.model.output(name, b.row); }},
  };
  expect_all_or_nothing(calls);
  expect_all_or_nothing({{"remove_block_marks", [](Built& b) { b.model.remove_block_marks(); }}},
                        [](Built& b) { b.model.begin_block_at(first_layer, name); });
  expect_all_or_nothing(
      {{"reset_stage_assignment", [](Built& b) { b.model.reset_stage_assignment(); }}},
      [&](Built& b) { b.model.set_stage_assignment(layers); });
}

TEST(BuildingWithoutMemory, FreezesOrDoesNothing) {
  const Call with_norm = [](Built& b) { b.model.batch_norm2d(other, b.image); };
  const std::string pattern = first_layer + "*", statistics = other + ".running_mean";
  expect_all_or_nothing(
      {{"freeze", [&](Built& b) { b.model.freeze(pattern); }},
       {"freeze_statistics", [&](Built& b) { b.model.freeze_statistics(statistics); }}},
      with_norm);
  expect_all_or_nothing(
      {{"unfreeze", [&](Built& b) { b.model.unfreeze(pattern); }},
       {"unfreeze_statistics", [&](Built& b) { b.model.unfreeze_statistics(statistics); }}},
      [&](Built& b) {
        with_norm(b);
        b.model.freeze(pattern);
        b.model.freeze_statistics(statistics);
      });
}

TEST(BuildingWithoutMemory, AddsALayerToAChainOrNothing) {
  const Sequential::Layer layer = [](Model& model, Value x) { return model.relu(x); };
  const std::vector<int> stages{0};
  expect_all_or_nothing({
      {"add", [&](Built& b) { b.chain.add(layer); }},
      {"flatten", [](Built& b) { b.chain.flatten(); }},
      {"dense", [](Built& b) { b.chain.dense(name, 3, Activation::relu); }},
      {"dropout", [](Built& b) { b.chain.dropout(name, 0.5); }},
  });
  expect_all_or_nothing({{"set_stages", [&](Built& b) { b.chain.set_stages(stages); }}},
                        [](Built& b) { b.chain.dense(name, 3); });
}

TEST(BuildingWithoutMemory, AnswersOrRefusesWhatItIsAsked) {
  Built b;
  b.chain.dense(other, 3);
  b.model.output(name, b.row);
  const std::pair<std::string, std::function<void()>> calls[] = {
      {"Model", [] { Model model; }},
      {"a value of no model", [&] { b.model.relu(Value()); }},
      {"a used name", [&] { b.model.linear(first_layer, b.row, 3); }},
      {"a second output", [&] { b.model.output(name, b.row); }},
      {"parameter", [&] { b.model.parameter(name); }},
      {"loss", [&] { b.model.loss(b.ids); }},
      {"recomputation_checkpoint", [&] { b.model.recomputation_checkpoint(Value()); }},
      {"tensor_name", [&] { static_cast<void>(b.model.tensor_name(b.linear)); }},
      {"shape", [&] { static_cast<void>(b.model.shape(Value())); }},
      {"parameters", [&] { static_cast<void>(b.model.parameters()); }},
      {"clone", [&] { static_cast<void>(b.model.clone()); }},
      {"stage_assignment", [&] { static_cast<void>(b.model.stage_assignment()); }},
      {"Sequential", [&] { Sequential(b.model, Value()); }},
      {"stages", [&] { static_cast<void>(b.chain.stages()); }},
      {"layers", [&] { static_cast<void>(b.chain.layers()); }},
      {"table of a chain", [&] { static_cast<void>(to_string(b.chain)); }},
      {"JSON of a chain", [&] { static_cast<void>(to_json(b.chain)); }}};
  for (const auto& [title, call] : calls) expect_no_raw_exception(title, call);
}

}  // namespace
}  // namespace penstock::testing
