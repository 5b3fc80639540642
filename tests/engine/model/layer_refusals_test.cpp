// These tests give layers that are made of several ops what the ops refuse. The refusal begins with
// the layer that was called.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "penstock/inference_model.hpp"
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

// The parameter's axis 0 would pass for that of the samples if there are one or two of them.
TEST(LayerRefusals, OfParametersInThePlaceOfSamplesComeWhenAModelIsMade) {
  struct Row {
    std::function<Value(Model&, Value x, Value y)> layer;  // x is [N,3,2,4], and y is [N].
    std::string text;
  };
  const auto axes = [](const std::string& value, const std::string& expression) {
    return ", sizes have to be equal or 1; with v for the value of shape " + value + ", " +
           expression + " keeps the samples on axis 0";
  };
  const Row table[] = {
      {[](Model& m, Value, Value y) {
         return m.unsqueeze(y, 1) + m.parameter("p", {2, 3});
       },
       "add \"add_1\" [N,1] and [2,3]; counted from the last axis" +
           axes("[N,1]", "unsqueeze(v, 1)")},
      {[](Model& m, Value, Value y) {
         return m.parameter("p", {3, 3}) + m.unsqueeze(y, 1);
       },
       "add \"add_1\" [3,3] and [N,1]; counted from the last axis" +
           axes("[N,1]", "unsqueeze(v, 1)")},
      {[](Model& m, Value, Value y) {
         return m.parameter("p", {2, 3}) - y;
       },
       "sub \"sub_1\" [2,3] and [N]; counted from the last axis" +
           axes("[N]", "unsqueeze(unsqueeze(v, 1), 1)")},
      {[](Model& m, Value x, Value y) {
         return m.where(m.parameter("p", {3, 1, 1}), y, m.mean(x, {1, 2, 3}, false));
       },
       "where \"where_1\" [3,1,1] and [N] and [N]: axis 0 of [N] would lie behind other axes; "
       "[3,1,1] has no axis of samples, and has to have fewer axes than [N], or as many with a "
       "first one of size 1; with v for the value of shape [N], "
       "unsqueeze(unsqueeze(unsqueeze(v, 1), 1), 1) keeps the samples on axis 0"},
      {[](Model& m, Value x, Value) {
         return m.matmul(x, m.mean(m.transpose(x, {0, 1, 3, 2}), {1}, false));
       },
       "matmul \"matmul_1\" [N,3,2,4] and [N,4,2]; counted from the last axis before the matrices" +
           axes("[N,4,2]", "unsqueeze(v, 1)")},
      // No axes of 1 bring the three samples of the parameter to the last axis.
      {[](Model& m, Value, Value y) {
         return m.transpose(m.unsqueeze(y, 1), {1, 0}) + m.parameter("p", {1, 3});
       },
       "add \"add_1\" [1,N] and [1,3]; counted from the last axis, sizes have to be equal or 1"},
  };
  for (const Row& row : table) {
    Model model("m");
    const Value x = model.input("x", {3, 2, 4}), y = model.input("y", {});
    model.output("out", row.layer(model, x, y));
    const std::size_t name_end = row.text.find("\" ") + 1;
    const bool fits = row.text.find("behind") != row.text.npos;
    for (const int batch : {1, 2, 5})
      EXPECT_EQ(
          refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = batch}); }),
          "model \"m\": " + row.text.substr(0, name_end) +
              (fits ? ": expected operands of as many axes as the result, for axis 0 counts "
                      "samples, got"
                    : ": expected shapes that broadcast for any number N of samples, got") +
              row.text.substr(name_end));
  }
  Model model("m");
  model.output("y", model.input("x", {2, 3}) + model.parameter("p", {2, 3}));
  InferenceModel(model, {.batch_size = 1});
}

TEST(LayerRefusals, OfSamplesThatALayerDoesNotBroadcastComeWhenAModelIsMade) {
  Model model("m");
  const Value x = model.input("x", {3});
  const Value sum = x + x;
  model.output("y", model.relu(model.concat({sum, model.parameter("p", {1, 2})}, 1)));
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = 1}); }),
            "model \"m\": with 2 samples in a micro-batch, which axis 0 of each input counts: "
            "concat \"concat_1\": expected input 1 of shape [2,2], got [1,2]");
}

// The first layer would put samples behind other axes, and the second takes one sample only.
TEST(LayerRefusals, OfSamplesNameTheFirstLayerThatCannotTakeThem) {
  Model model("m");
  const Value x = model.input("x", {1}), y = model.input("y", {});
  model.output("z", model.concat({x - y, model.parameter("p", {1, 2})}, 1));
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = 1}); })
                .find("model \"m\": sub \"sub_1\": expected operands of as many axes"),
            0U);
}

TEST(LayerRefusals, OfSamplesBehindOtherAxesComeWhenAModelIsMade) {
  struct Row {
    std::function<Value(Model&, Value x, Value y)> layer;  // x is [N,1], and y is [N].
    std::string text;
  };
  const std::string advice = " would lie behind other axes; with v for the value of that shape, ";
  const std::string all =
      " pairs each sample with itself, and transpose(unsqueeze(v, 1), {1, 0}) pairs each sample "
      "with all samples";
  const std::string pairs = advice + "unsqueeze(v, 1)" + all;
  const std::string of_pairs = "[N,1] and [N]: axis 0 of [N]" + pairs;
  const auto no_samples = [](const std::string& longest, const std::string& expression) {
    return ": axis 0 of [N,1] would lie behind other axes; " + longest +
           " has no axis of samples, and has to have fewer axes than [N,1], or as many with a "
           "first one of size 1; with v for the value of shape [N,1], " +
           expression + " keeps the samples on axis 0";
  };
  const std::string twice = "unsqueeze(unsqueeze(v, 1), 1)";
  const Row table[] = {
      {[](Model& m, Value x, Value y) { return m.maximum(x, y); },
       "maximum \"maximum_1\" " + of_pairs},
      {[](Model&, Value x, Value y) { return x / y; }, "div \"div_1\" " + of_pairs},
      {[](Model& m, Value x, Value y) { return m.pow(x, y); }, "power \"power_1\" " + of_pairs},
      {[](Model& m, Value x, Value y) { return m.equal(x, y); }, "equal \"equal_1\" " + of_pairs},
      {[](Model& m, Value x, Value y) { return m.less_equal(x, y); },
       "less_equal \"less_equal_1\" " + of_pairs},
      {[](Model&, Value x, Value y) { return x - y; }, "sub \"sub_1\" " + of_pairs},
      {[](Model& m, Value x, Value y) { return m.minimum(x, y); },
       "minimum \"minimum_1\" " + of_pairs},
      {[](Model& m, Value x, Value y) { return m.less(y, x); },
       "less \"less_1\" [N] and [N,1]: axis 0 of [N]" + pairs},
      {[](Model& m, Value x, Value y) { return m.where(m.less(x, x), x, y); },
       "where \"where_1\" [N,1] and [N,1] and [N]: axis 0 of [N]" + pairs},
      // Operands of the same rank do not excuse each other.
      {[](Model& m, Value x, Value y) { return m.where(m.less(y, 20), x, y); },
       "where \"where_1\" [N] and [N,1] and [N]: axis 0 of [N]" + pairs},
      // The order of operands of the same rank is all the same.
      {[](Model& m, Value x, Value y) {
         return m.where(m.unsqueeze(x, 1), m.parameter("p", {1, 1, 1}), y);
       },
       "where \"where_1\" [N,1,1] and [1,1,1] and [N]: axis 0 of [N]" + advice + twice + all},
      {[](Model& m, Value x, Value y) {
         return m.where(m.parameter("p", {1, 1, 1}), m.unsqueeze(x, 1), y);
       },
       "where \"where_1\" [1,1,1] and [N,1,1] and [N]: axis 0 of [N]" + advice + twice + all},
      {[](Model& m, Value x, Value) {
         return m.parameter("p", {1, 1, 4}) + m.expand(x, {4});
       },
       "add \"add_1\" [1,1,4] and [N,4]: axis 0 of [N,4] would lie behind other axes; [1,1,4] has "
       "no axis of samples, and has to have fewer axes than [N,4], or as many with a first one of "
       "size 1; with v for the value of shape [N,4], unsqueeze(v, 1) keeps the samples on axis 0"},
      {[](Model& m, Value x, Value) {
         return m.parameter("p", {2, 1, 4}) + m.expand(x, {4});
       },
       "add \"add_1\" [2,1,4] and [N,4]: axis 0 of [N,4] would lie behind other axes; [2,1,4] has "
       "no axis of samples, and has to have fewer axes than [N,4], or as many with a first one of "
       "size 1; with v for the value of shape [N,4], " +
           twice + " keeps the samples on axis 0"},
      {[](Model& m, Value x, Value) {
         return x + m.parameter("p", {2, 1, 1});
       },
       "add \"add_1\" [N,1] and [2,1,1]" + no_samples("[2,1,1]", twice)},
      {[](Model& m, Value x, Value) {
         return m.where(m.parameter("p", {2, 1, 1}), x, m.neg(x));
       },
       "where \"where_1\" [2,1,1] and [N,1] and [N,1]" + no_samples("[2,1,1]", twice)},
      {[](Model& m, Value x, Value) {
         return m.where(m.parameter("p", {2, 1, 1}), m.parameter("q", {3, 1, 1, 1}), x);
       },
       "where \"where_1\" [2,1,1] and [3,1,1,1] and [N,1]" +
           no_samples("[3,1,1,1]", "unsqueeze(" + twice + ", 1)")},
      {[](Model& m, Value x, Value y) {
         const Value turned = m.transpose(m.expand(m.unsqueeze(x, 1), {5, 1}), {1, 0, 2});
         return turned + y;  // The samples of [5,N,1] meet no axis of y [N].
       },
       "add \"add_1\" [5,N,1] and [N]: axis 0 of [N]" + pairs},
      {[](Model& m, Value x, Value y) {
         return m.transpose(m.unsqueeze(x, 1), {1, 0, 2}) + y;
       },
       "add \"add_1\" [1,N,1] and [N]: axis 0 of [N]" + pairs},
      {[](Model& m, Value x, Value y) { return m.unsqueeze(x, 1) + y; },
       "add \"add_1\" [N,1,1] and [N]: axis 0 of [N]" + advice + "unsqueeze(unsqueeze(v, 1), 1)" +
           all},
      {[](Model& m, Value x, Value) {
         return m.transpose(m.unsqueeze(x, 1), {1, 2, 0}) + x;
       },
       "add \"add_1\" [1,1,N] and [N,1]: axis 0 of [N,1]" + advice +
           "transpose(v, {1, 0}) pairs each sample with itself, and transpose(unsqueeze(v, 1), {1, "
           "0, 2}) pairs each sample with all samples"},
      {[](Model& m, Value x, Value) {
         const Value column = m.unsqueeze(x, 1);
         return m.transpose(m.unsqueeze(column, 1), {1, 2, 3, 0}) + column;
       },
       "add \"add_1\" [1,1,1,N] and [N,1,1]: axis 0 of [N,1,1]" + advice +
           "transpose(v, {2, 1, 0}) pairs each sample with itself, and transpose(unsqueeze(v, 1), "
           "{1, 0, 2, 3}) pairs each sample with all samples"},
      // The samples of [1,1,N] meet those of axis 1 of [N,N] already.
      {[](Model& m, Value x, Value) {
         return m.transpose(m.unsqueeze(x, 1), {1, 2, 0}) + m.matmul(x, m.transpose(x, {1, 0}));
       },
       "add \"add_1\" [1,1,N] and [N,N]: axis 0 of [N,N]" + advice +
           "transpose(unsqueeze(v, 1), {1, 0, 2}) pairs each sample with all samples"},
      {[](Model& m, Value x, Value y) {
         return m.binary_cross_entropy_with_logits(x, x, LossReduction::mean, y);
       },
       "mul \"mul_1\" " + of_pairs},
  };
  for (const Row& row : table) {
    Model model("m");
    const Value x = model.input("x", {1}), y = model.input("y", {});
    model.output("out", row.layer(model, x, y));
    const std::size_t name_end = row.text.find("\" ") + 1;
    EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = 1}); }),
              "model \"m\": " + row.text.substr(0, name_end) +
                  ": expected operands of as many axes as the result, for axis 0 counts samples, "
                  "got" +
                  row.text.substr(name_end));
  }
}

TEST(LayerRefusals, LeaveOperandsAloneWhoseSamplesMeetSamples) {
  Model model("m");
  const Value x = model.input("x", {3}), y = model.input("y", {}), z = model.input("z", {2, 3});
  model.output("rows", model.transpose(x, {1, 0}) * y);
  model.output("parameters", x + model.parameter("p", {3}) + 1.0);
  model.output("labels", y - y);
  model.output("pairs", model.sum(model.equal(model.unsqueeze(y, 1),
                                              model.transpose(model.unsqueeze(y, 1), {1, 0})),
                                  {1}));
  // Each sample meets each of four experts; the axes of matrices may count samples.
  model.output("experts",
               model.transpose(model.matmul(x, model.parameter("e", {4, 3, 5})), {1, 0, 2}));
  model.output("steps", model.transpose(z, {1, 0, 2}) * x);
  const Value products = model.matmul(x, model.transpose(x, {1, 0}));  // [N,N]
  model.output("columns", model.where(products, y, model.neg(y)));
  model.output("matrices", model.matmul(z, model.parameter("w", {3, 4})));
  InferenceModel(model, {.batch_size = 1});
}

TEST(LayerRefusals, OfSamplesBehindOtherAxesAdviseWhatPairsSamples) {
  Model model("m");
  const Value x = model.input("x", {1}), y = model.input("y", {});  // [N,1] and [N]
  const Value column = model.unsqueeze(y, 1), row = model.transpose(column, {1, 0});
  const Value turned = model.transpose(model.unsqueeze(x, 1), {1, 0, 2});  // [1,N,1]
  const Value last = model.transpose(model.unsqueeze(x, 1), {1, 2, 0});    // [1,1,N]
  const auto in_front = [&](const Value& of_axis1) { return model.transpose(of_axis1, {1, 0, 2}); };
  model.output("itself", x - column);
  model.output("itself in volumes", model.unsqueeze(x, 1) - model.unsqueeze(column, 1));
  model.output("itself on axis 1", in_front(turned - column));
  const Value many = in_front(model.expand(model.unsqueeze(x, 1), {5, 1}));  // [5,N,1]
  model.output("itself on axis 1 of many", model.mean(in_front(many - column), {1}));
  model.output("itself on the last axis",
               model.transpose(last - model.transpose(x + x, {1, 0}), {2, 0, 1}));
  model.output("all", model.sum(x - row, {1}));
  model.output("all in volumes", model.sum(model.unsqueeze(x, 1) - row, {1, 2}));
  model.output("all on axis 1", model.sum(in_front(turned - row), {1, 2}));
  model.output("all on the last axis", model.sum(in_front(last - turned), {1, 2}));
  model.output("axes of x", model.unsqueeze(model.unsqueeze(x, 1), 1) -
                                model.constant("long", Tensor({2, 1, 1}, {1, 2})));
  model.output("axes of y", model.constant("wide", Tensor({2, 1}, {1, 2})) +
                                model.unsqueeze(model.unsqueeze(y, 1), 1));
  model.output("matrices of samples",
               model.matmul(model.constant("rows", Tensor({1, 3, 1, 1}, {1, 2, 3})),
                            model.unsqueeze(model.unsqueeze(x, 1), 1)));
  model.output("as many axes", x - model.constant("short", Tensor({1, 1}, {1})));
  InferenceModel inference(model, {.batch_size = 2});
  const StepResult result = inference.run({Tensor({2, 1}, {1, 2}), Tensor({2}, {10, 30})});
  const auto expect = [&](const std::string& output, const std::vector<float>& expected) {
    const auto numbers = result.output(output).as<float>();
    EXPECT_EQ(std::vector<float>(numbers.begin(), numbers.end()), expected) << output;
  };
  for (const std::string name :
       {"itself", "itself in volumes", "itself on axis 1", "itself on axis 1 of many"})
    expect(name, {-9, -28});
  for (const std::string name : {"all", "all in volumes", "all on axis 1"})
    expect(name, {-38, -36});
  expect("all on the last axis", {1, -1});
  expect("itself on the last axis", {-1, -2});
  expect("axes of x", {0, -1, 1, 0});
  expect("axes of y", {11, 12, 31, 32});
  expect("matrices of samples", {1, 2, 3, 2, 4, 6});
  expect("as many axes", {0, 1});
}

TEST(LayerRefusals, OfMatricesOfSamplesBehindOtherAxesComeWhenAModelIsMade) {
  Model model("m");
  const Value a = model.input("a", {1, 2, 3}), b = model.input("b", {3, 4});
  model.output("y", model.matmul(a, b));
  EXPECT_EQ(
      refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = 1}); }),
      "model \"m\": matmul \"matmul_1\": expected operands of as many axes as the result, for "
      "axis 0 counts samples, got [N,1,2,3] and [N,3,4]: axis 0 of [N,3,4] would lie behind "
      "other axes; with v for the value of that shape, unsqueeze(v, 1) pairs each sample with "
      "itself, and transpose(unsqueeze(v, 1), {1, 0, 2, 3}) pairs each sample with all samples");
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
