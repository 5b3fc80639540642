// These tests give layers that are made of several ops what the ops refuse. The refusal begins with
// the layer that was called.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "penstock/model.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::testing {
namespace {

using Add = std::function<void(Model& model, Value x)>;

/// Returns the text with which a layer refuses an input of integers, of which one sample has shape
/// `sample`.
std::string refusal_of_integers(const Shape& sample, const Add& add) {
  Model model("m");
  const Value x = model.input("x", sample, DType::i64);
  return refusal(Errc::shape_mismatch, [&] { add(model, x); });
}

TEST(LayerRefusals, BeginWithTheLayerAndItsName) {
  const Shape row{4}, sequence{2, 4}, image{2, 4, 4}, volume{2, 4, 4, 4};
  const std::vector<std::tuple<std::string, Shape, Add>> layers{
      {"relu6", row, [](Model& m, Value x) { m.relu6(x); }},
      {"gelu", row, [](Model& m, Value x) { m.gelu(x, GeluForm::tanh); }},
      {"selu", row, [](Model& m, Value x) { m.selu(x); }},
      {"celu", row, [](Model& m, Value x) { m.celu(x); }},
      {"tanhshrink", row, [](Model& m, Value x) { m.tanhshrink(x); }},
      {"glu", row, [](Model& m, Value x) { m.glu(x, 1); }},
      {"softmin", row, [](Model& m, Value x) { m.softmin(x); }},
      {"neg", row, [](Model& m, Value x) { m.neg(x); }},
      {"neg", row, [](Model&, Value x) { -x; }},
      {"square", row, [](Model& m, Value x) { m.square(x); }},
      {"add \"add_1\"", row, [](Model&, Value x) { x + 1.0; }},
      {"mul", row, [](Model&, Value x) { 2.0 * x; }},
      {"norm", row, [](Model& m, Value x) { m.norm(x, {1}); }},
      {"var", row, [](Model& m, Value x) { m.var(x, {1}); }},
      {"topk", row, [](Model& m, Value x) { m.topk(x, 2, 1); }},
      {"max_pool1d", sequence, [](Model& m, Value x) { m.max_pool1d(x, {.kernel = 2}); }},
      {"avg_pool1d", sequence, [](Model& m, Value x) { m.avg_pool1d(x, {.kernel = 2}); }},
      {"lp_pool2d", image, [](Model& m, Value x) { m.lp_pool2d(x, 2, {.kernel = 2}); }},
      {"max_pool3d", volume, [](Model& m, Value x) { m.max_pool3d(x, {.kernel = 2}); }},
      {"adaptive_avg_pool2d", image, [](Model& m, Value x) { m.adaptive_avg_pool2d(x, 2); }},
      {"conv1d \"c\"", sequence,
       [](Model& m, Value x) { m.conv1d("c", x, {.out_channels = 2, .kernel = 2}); }},
      {"conv3d \"c\"", volume,
       [](Model& m, Value x) { m.conv3d("c", x, {.out_channels = 2, .kernel = 2}); }},
      {"conv_transpose1d \"c\"", sequence,
       [](Model& m, Value x) { m.conv_transpose1d("c", x, {.out_channels = 2, .kernel = 2}); }},
      {"instance_norm \"n\"", image, [](Model& m, Value x) { m.instance_norm("n", x); }},
      {"batch_norm1d \"n\"", row, [](Model& m, Value x) { m.batch_norm1d("n", x); }},
      {"batch_norm2d \"n\"", image, [](Model& m, Value x) { m.batch_norm2d("n", x); }},
      {"dropout1d \"d\"", sequence, [](Model& m, Value x) { m.dropout1d("d", x, 0.5); }},
      {"dropout2d \"d\"", image, [](Model& m, Value x) { m.dropout2d("d", x, 0.5); }},
      {"alpha_dropout \"d\"", row, [](Model& m, Value x) { m.alpha_dropout("d", x, 0.5); }},
      {"lstm \"l\"", sequence, [](Model& m, Value x) { m.lstm("l", x, {.hidden_size = 2}); }},
      {"multi_head_attention \"a\"", sequence,
       [](Model& m, Value x) { m.multi_head_attention("a", x, {.heads = 2}); }},
      {"transformer_encoder_layer \"t\"", sequence,
       [](Model& m, Value x) { m.transformer_encoder_layer("t", x, {.heads = 2}); }},
      {"binary_cross_entropy_with_logits \"binary_cross_entropy_with_logits_1\"", row,
       [](Model& m, Value x) { m.binary_cross_entropy_with_logits(x, x); }},
  };
  for (const auto& [layer, sample, add] : layers) {
    const std::string text = refusal_of_integers(sample, add);
    EXPECT_TRUE(text.starts_with(layer + ": ")) << layer << ": " << text;
    EXPECT_NE(text.find("got i64"), std::string::npos) << text;
  }
}

TEST(LayerRefusals, NameTheOpInsideALayerThatHasAnotherName) {
  EXPECT_EQ(
      refusal_of_integers({4}, [](Model& m, Value x) { m.relu6(x); }),
      "relu6: hardtanh \"hardtanh_1\": expected x of type f32, got i64[1,4]; to_float() makes "
      "f32 of it");
  EXPECT_EQ(
      refusal_of_integers({2, 4, 4}, [](Model& m, Value x) { m.instance_norm("n", x); }),
      "instance_norm \"n\": expected x of type f32, got i64[1,2,4,4]; to_float() makes f32 of "
      "it");
}

TEST(LayerRefusals, NameTheLayerWhereItsOptionsAreRefused) {
  Model model("m");
  const Value ids = model.input("ids", {3}, DType::i64), image = model.input("image", {3, 4, 4});
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { model.embedding("e", ids, 4, 2, 4); }),
            "embedding \"e\": expected padding_index from -4 to 3, got 4");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.pixel_shuffle(image, 2); }),
            "pixel_shuffle: expected x with channels that divide by the square of the factor 2, "
            "got [1,3,4,4]");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.pixel_unshuffle(image, 3); }),
            "pixel_unshuffle: expected x with rows and columns that divide by the factor 3, got "
            "[1,3,4,4]");
  EXPECT_EQ(
      refusal(Errc::invalid_model,
              [&] {
                model.linear("fc", image, 2);
                model.conv1d("fc", model.reshape(image, {3, 16}), {.out_channels = 1, .kernel = 1});
              }),
      "model \"m\": conv1d \"fc\": the name is used already");
}

TEST(LayerRefusals, NameTheLayerWhoseNameIsUsed) {
  using Add = void (*)(Model&, Value x);
  const std::vector<std::pair<std::string, Add>> layers{
      {"instance_norm", [](Model& m, Value x) { m.instance_norm("n", x); }},
      {"batch_norm2d", [](Model& m, Value x) { m.batch_norm2d("n", x); }},
      {"dropout2d", [](Model& m, Value x) { m.dropout2d("n", x, 0.5); }},
      {"alpha_dropout", [](Model& m, Value x) { m.alpha_dropout("n", x, 0.5); }},
      {"conv2d", [](Model& m, Value x) { m.conv2d("n", x, {.out_channels = 2, .kernel = 1}); }},
  };
  Model model("of \"2\": m");
  const Value x = model.input("x", {2, 4, 4});
  model.linear("n", x, 2);
  for (const auto& [layer, add] : layers)
    EXPECT_EQ(refusal(Errc::invalid_model, [&, added = add] { added(model, x); }),
              "model \"of \"2\": m\": " + layer + " \"n\": the name is used already");
}

TEST(LayerRefusals, NameTheLayerWhosePartHasAUsedName) {
  Model model("m");
  const Value x = model.input("x", {4}), sequence = model.input("s", {3, 4});
  const auto refused = [](const std::function<void()>& add) {
    return refusal(Errc::invalid_model, add);
  };
  const std::string used = ": the name is used already";
  model.dropout("q/image", x, 0.5);
  EXPECT_EQ(refused([&] { model.conv1d("q", sequence, {.out_channels = 2, .kernel = 1}); }),
            "model \"m\": conv1d \"q\": reshape \"q/image\"" + used);
  model.parameter("b.weight", {1});
  EXPECT_EQ(refused([&] { model.linear("b", x, 2); }),
            "model \"m\": linear \"b\": parameter \"b.weight\"" + used);
  model.parameter("r.weight_ih_l0", {1});
  EXPECT_EQ(refused([&] { model.lstm("r", sequence, {.hidden_size = 2}); }),
            "model \"m\": lstm \"r\": parameter \"r.weight_ih_l0\"" + used);
  model.dropout("a.linear1", x, 0.5);
  EXPECT_EQ(refused([&] {
              model.transformer_encoder_layer("a", sequence, {.heads = 2, .dim_feedforward = 8});
            }),
            "model \"m\": transformer_encoder_layer \"a\": linear \"a.linear1\"" + used);
}

TEST(LayerRefusals, OfASingleNumberDoNotAskForAReshape) {
  Model model("m");
  const Value number = model.parameter("p", {});
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.softmax(number); }),
            "softmax \"softmax_1\": expected x of rank 1 or more, got f32[]");
}

TEST(LayerRefusals, OfTransposedConvolutionsOfVolumes) {
  Model model("m");
  const Value x = model.input("x", {2, 3, 4, 5});
  const auto refused = [&](const ConvTranspose3dOptions& options) {
    return refusal(Errc::shape_mismatch, [&] { model.conv_transpose3d("c", x, options); });
  };
  EXPECT_EQ(
      refused({.out_channels = 2, .kernel = 2, .stride = std::int64_t{1} << 30}),
      "conv_transpose3d \"c\": expected at most 2^30 slices of x with zeros between them, got "
      "2147483651");
  EXPECT_EQ(
      refused({.out_channels = 2, .kernel = 2, .padding = {0, 4, 0}}),
      "conv_transpose3d \"c\": expected a padding that leaves some of the rows of the result, "
      "got 4");
  EXPECT_EQ(refused({.out_channels = 2, .kernel = 2, .output_padding = 1}),
            "conv_transpose3d \"c\": expected an output padding from 0 to less than the stride, "
            "which is 1, got 1");
  EXPECT_EQ(refused({.out_channels = 3, .kernel = 2, .groups = 2}),
            "conv_transpose3d \"c\": expected a number of out_channels that divides into 2 groups, "
            "got 3");
  model.dropout("used", x, 0.5);
  EXPECT_EQ(refusal(Errc::invalid_model,
                    [&] { model.conv_transpose3d("used", x, {.out_channels = 1, .kernel = 1}); }),
            "model \"m\": conv_transpose3d \"used\": the name is used already");
  EXPECT_TRUE(model.parameters().empty());
}

TEST(LayerRefusals, OfSizesBehindALimitNameTheLimit) {
  struct Row {
    Errc code;
    std::function<void(Model&, Value x)> layer;  // x is [N,1,4100,3].
    std::string text;
  };
  const Row table[] = {
      {Errc::shape_mismatch,
       [](Model& m, Value x) {
         m.adaptive_avg_pool2d(x, {4099, 3});
       },
       "adaptive_avg_pool2d: expected at most 4096 windows of different sizes along an axis of "
       "4100 elements, got 4099"},
      {Errc::shape_mismatch,
       [](Model& m, Value x) {
         m.gru("r", m.reshape(x, {4100, 3}), {.hidden_size = (std::int64_t{1} << 28) + 1});
       },
       "gru \"r\": expected hidden_size of at most 268435456, got 268435457"},
      {Errc::shape_mismatch,
       [](Model& m, Value x) {
         const std::int64_t many = std::int64_t{1} << 32;
         const Value none = m.slice(x, 1, 0, 0);
         m.flatten(m.expand(m.unsqueeze(m.unsqueeze(none, 2), 2), {0, many, many, 4100, 3}), 2, 3);
       },
       "flatten \"flatten_1\": expected axes whose sizes have a product below 2^63, got axes 2 to "
       "3 of x [1,0,4294967296,4294967296,4100,3]"},
      {Errc::invalid_argument, [](Model& m, Value x) { m.lp_pool2d(x, 1e-46); },
       "lp_pool2d: expected a norm from 1.1754943508222875e-38 to 8.507059173023462e+37, got "
       "1e-46"},
      {Errc::invalid_argument, [](Model& m, Value x) { m.lp_pool2d(x, 1e300); },
       "lp_pool2d: expected a norm from 1.1754943508222875e-38 to 8.507059173023462e+37, got "
       "1e+300"},
      {Errc::invalid_argument,
       [](Model& m, Value) { m.parameter("p", {3}, Initializer::uniform(1, 0.1)); },
       "parameter \"p\": uniform: expected low not to be above high, got low 1 and high 0.1"},
      {Errc::shape_mismatch, [](Model& m, Value x) { m.flatten(x, 1, 0); },
       "flatten: expected an axis behind axis 0, which counts samples, got axis 0"},
  };
  for (const Row& row : table) {
    Model model("m");
    const Value x = model.input("x", {1, 4100, 3});
    EXPECT_EQ(refusal(row.code, [&] { row.layer(model, x); }), row.text);
  }
  Model model("m");
  const Value x = model.input("x", {1, 10000, 7});
  EXPECT_EQ(model.shape(model.adaptive_avg_pool2d(x, {5000, 7})), (Shape{1, 1, 5000, 7}));
  EXPECT_EQ(model.shape(model.adaptive_max_pool2d(x, {5000, 3})), (Shape{1, 1, 5000, 3}));
  EXPECT_EQ(model.shape(model.flatten(x, -2, -1)), (Shape{1, 1, 70000}));
}

}  // namespace
}  // namespace penstock::testing
