// These tests give layers that are added later the parameters of layers that are there, by
// Layers::share_parameters().
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/sequential.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/reference_file.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::testing {
namespace {

/// A SharedLayer is a kind of layer: a function adds one that is called `name`.
struct SharedLayer {
  const char* kind;
  Shape sample;
  std::function<Value(Model& model, const std::string& name, Value x)> add;
  /// If a layer itself uses a parameter several times, the gradients of its uses are added up in
  /// another order, and may be rounded otherwise.
  double tolerance = 0;
};

void PrintTo(const SharedLayer& layer, std::ostream* out) {
  *out << layer.kind;
}

const Shape row{6}, sequence{4, 8}, image{3, 6, 5}, volume{2, 3, 4, 5};

const std::vector<SharedLayer> layers_of_every_kind{
    {"linear", row, [](Model& m, auto& name, Value x) { return m.linear(name, x, 3); }},
    {"conv1d", sequence,
     [](Model& m, auto& name, Value x) {
       return m.conv1d(name, x, {.out_channels = 3, .kernel = 3});
     }},
    {"conv2d", image,
     [](Model& m, auto& name, Value x) {
       return m.conv2d(name, x, {.out_channels = 4, .kernel = 3});
     }},
    {"conv3d", volume,
     [](Model& m, auto& name, Value x) {
       return m.conv3d(name, x, {.out_channels = 2, .kernel = 2});
     }},
    {"conv_transpose1d", sequence,
     [](Model& m, auto& name, Value x) {
       return m.conv_transpose1d(name, x, {.out_channels = 2, .kernel = 2, .stride = 2});
     }},
    {"conv_transpose2d", image,
     [](Model& m, auto& name, Value x) {
       return m.conv_transpose2d(name, x, {.out_channels = 2, .kernel = 2, .stride = 2});
     }},
    {"conv_transpose3d", volume,
     [](Model& m, auto& name, Value x) {
       return m.conv_transpose3d(name, x, {.out_channels = 2, .kernel = 2, .stride = 2});
     }},
    {"weight_norm", row,
     [](Model& m, auto& name, Value x) {
       return m.linear(x, m.weight_norm(name, {3, 6}));
     },
     1e-6},
    {"group_norm", image, [](Model& m, auto& name, Value x) { return m.group_norm(name, x, 3); }},
    {"instance_norm", image,
     [](Model& m, auto& name, Value x) { return m.instance_norm(name, x, 1e-5, true); }},
    {"layer_norm", sequence,
     [](Model& m, auto& name, Value x) { return m.layer_norm(name, x, 2); }},
    {"rms_norm", sequence, [](Model& m, auto& name, Value x) { return m.rms_norm(name, x); }},
    {"batch_norm2d", image, [](Model& m, auto& name, Value x) { return m.batch_norm2d(name, x); }},
    {"prelu", image, [](Model& m, auto& name, Value x) { return m.prelu(name, x, 3); }},
    {"embedding", sequence,
     [](Model& m, auto& name, Value x) { return m.embedding(name, m.argmax(x, 2), 8, 3); }},
    {"parameter", row, [](Model& m, auto& name, Value x) { return x * m.parameter(name, {6}); }},
    {"lstm", sequence,
     [](Model& m, auto& name, Value x) {
       return m.lstm(name, x, {.hidden_size = 3, .layers = 2, .bidirectional = true}).output;
     }},
    {"gru", sequence,
     [](Model& m, auto& name, Value x) { return m.gru(name, x, {.hidden_size = 3}).output; }},
    {"rnn", sequence,
     [](Model& m, auto& name, Value x) { return m.rnn(name, x, {.hidden_size = 3}).output; }},
    {"multi_head_attention", sequence,
     [](Model& m, auto& name, Value x) { return m.multi_head_attention(name, x, {.heads = 2}); }},
    {"transformer_encoder_layer", sequence,
     [](Model& m, auto& name, Value x) {
       return m.transformer_encoder_layer(name, x,
                                          {.heads = 2, .dim_feedforward = 6, .dropout = 0});
     }},
    {"transformer_decoder_layer", sequence,
     [](Model& m, auto& name, Value x) {
       return m.transformer_decoder_layer(name, x, m.tanh(x),
                                          {.heads = 2, .dim_feedforward = 6, .dropout = 0});
     }},
    {"layers whose names begin alike", row,
     [](Model& m, auto& name, Value x) {
       return m.linear(name + ".out", m.tanh(m.linear(name + ".in", x, 5)), 3);
     }},
};

Value mean_of_squares(Model& model, Value y) {
  return model.identity_loss(model.square(y));
}

/// Returns a model whose loss is twice the squares of what a layer computes, as a factor or, if
/// `shared` is true, because a second layer shares the parameters of the first one.
Model twice(const SharedLayer& layer, bool shared) {
  Model model("m", 3);
  const Value x = model.input("x", layer.sample);
  Value loss;
  {
    const auto block = model.block("first");
    loss = mean_of_squares(model, layer.add(model, "first", x));
  }
  const auto block = model.block("second");
  if (shared) {
    model.share_parameters("second", "first");
    loss = loss + mean_of_squares(model, layer.add(model, "second", x));
  } else {
    loss = model.scale(loss, 2);
  }
  model.loss(model.identity_loss(loss));
  return model;
}

class SharedParameters : public ::testing::TestWithParam<SharedLayer> {};

// Both uses have the same gradients, and so their sum is exactly twice one of them.
TEST_P(SharedParameters, AreTrainedByAllLayersThatHaveThem) {
  for (const char* stages : {"", "first|second"}) {
    const Model shared = twice(GetParam(), true);
    for (const ParameterInfo& info : shared.parameters())
      if (!info.buffer) {
        EXPECT_TRUE(info.name.starts_with("first")) << info.name;
      }
    const Model again = twice(GetParam(), false);
    Options options{.batch_size = 2};
    if (*stages != '\0') options.topology.stages = parse_stages(stages);
    TrainingModel training(shared, options, Sgd{.learning_rate = 0.1});
    TrainingModel expected(again, {.batch_size = 2}, Sgd{.learning_rate = 0.1});
    std::vector<std::int64_t> dims{2};
    dims.insert(dims.end(), GetParam().sample.begin(), GetParam().sample.end());
    const Tensor x = uniform(Shape(dims), 5);
    for (int step = 0; step < 2; ++step)
      EXPECT_EQ(training.step({x}).mean_loss, expected.step({x}).mean_loss) << stages;
    for (const ParameterInfo& info : again.parameters())
      EXPECT_LE(relative_difference(shared.weight(info.name), again.weight(info.name)),
                GetParam().tolerance)
          << info.name;
  }
}

INSTANTIATE_TEST_SUITE_P(OfEveryKind, SharedParameters, ::testing::ValuesIn(layers_of_every_kind));

TEST(SharedParameter, ChainsOfLayersHaveThoseOfTheFirstOne) {
  Model model;
  const Value x = model.input("x", {4});
  model.linear("a", x, 2);
  model.share_parameters("b", "a");
  model.linear("b", x, 2);
  model.share_parameters("c", "b");
  model.linear("c", x, 2);
  EXPECT_EQ(model.parameters().size(), 2u);
  model.share_parameters("whole.part", "a");
  model.linear("whole.part", x, 2);
  model.linear("whole.parts", x, 2);
  EXPECT_EQ(model.parameters().back().name, "whole.parts.bias");
  EXPECT_EQ(model.shape(model.parameter("c.weight")), (Shape{2, 4}));
}

TEST(SharedParameter, LayersKeepBuffersOfTheirOwn) {
  Model model;
  const Value x = model.input("x", {4});
  model.batch_norm1d("a", x);
  model.share_parameters("b", "a");
  model.batch_norm1d("b", x);
  std::string names;
  for (const ParameterInfo& info : model.parameters()) names += info.name + " ";
  EXPECT_EQ(names, "a.weight a.bias a.running_mean a.running_var b.running_mean b.running_var ");
}

TEST(SharedParameter, CopiesOfAModelShareThem) {
  Model model("m", 1);
  const Value x = model.input("x", {4});
  model.linear("a", x, 2);
  model.share_parameters("b", "a");
  Model copy = model.clone();
  copy.output("y", copy.linear("b", copy.input("z", {4}), 2));
  EXPECT_EQ(copy.parameters().size(), 2u);
}

TEST(SharedParameter, RefuseLayersThatDoNotFit) {
  Model model("m");
  const Value x = model.input("x", {4});
  model.linear("a", x, 2, false);
  model.share_parameters("b", "a");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.linear("b", x, 3, false); }),
            "linear \"b\": expected a parameter \"a.weight\" of shape [3,4], to take the place of "
            "\"b.weight\", got [2,4]; layers that share parameters need the same sizes");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.linear("b", x, 2); }),
            "linear \"b\": expected a parameter \"a.bias\", to take the place of \"b.bias\", got "
            "none; layers that share parameters need the same options");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.parameter("b.scale", {3}); }),
            "parameter \"b.scale\": expected a parameter \"a.scale\", to take the place of "
            "\"b.scale\", got none; layers that share parameters need the same options");
  model.linear("b", x, 2, false);
  EXPECT_EQ(model.parameters().size(), 1u);
}

TEST(SharedParameter, RefuseNamesThatMakeNoSense) {
  Model model("m");
  const Value x = model.input("x", {4});
  model.linear("a", x, 2);
  model.linear("own", x, 2);
  const auto refused = [&](const std::string& layer, const std::string& source) {
    return refusal(Errc::invalid_argument, [&] { model.share_parameters(layer, source); });
  };
  EXPECT_EQ(refused("", "a"),
            "model \"m\": share_parameters \"\": expected a layer's name, got \"\"");
  EXPECT_EQ(refused("own", "a"),
            "model \"m\": share_parameters \"own\": expected a layer without parameters, got one "
            "that has \"own.weight\"; share them before the layer is added");
  EXPECT_EQ(refused("b", "c"),
            "model \"m\": share_parameters \"b\": there is no layer \"c\" with parameters; there "
            "are: a, own");
  model.dropout("d", x, 0.5);
  EXPECT_EQ(refused("d", "a"),
            "model \"m\": share_parameters \"d\": expected a layer that is still to be added, got "
            "dropout \"d\"");
  model.share_parameters("b", "a");
  EXPECT_EQ(refused("b", "own"),
            "model \"m\": share_parameters \"b\": the layer has the parameters of \"a\" already");
}

TEST(SharedParameter, AreRefusedWhereNoLayerHasAskedForThem) {
  Model model("m");
  const Value x = model.input("x", {4});
  model.linear("left", x, 2);
  model.share_parameters("rigth", "left");
  model.output("y", model.linear("right", x, 2));
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { InferenceModel(model, {.batch_size = 1}); }),
            "model \"m\": share_parameters \"rigth\": nothing has asked for the parameters of "
            "\"left\"; add a layer whose name is \"rigth\" or begins with that and a dot");
  model.linear("rigth", x, 2);
  InferenceModel(model, {.batch_size = 1});
}

TEST(SharedParameter, CountAsUsedByWayOfOtherLayersAndByTheirNames) {
  Model model("m");
  const Value x = model.input("x", {4});
  model.linear("a", x, 2);
  model.share_parameters("b", "a");
  model.share_parameters("c", "b");
  model.output("y", model.linear("c", x, 2));
  InferenceModel(model, {.batch_size = 1});
  Model named("n");
  const Value z = named.input("z", {4});
  named.linear("embed", z, 4);
  named.share_parameters("head", "embed");
  const Value weight = named.parameter("head.weight");
  named.output("y", named.linear("head", named.linear(z, weight), 4));
  InferenceModel(named, {.batch_size = 1});
  Model alone("o");
  const Value u = alone.input("u", {4});
  alone.linear("embed", u, 4);
  alone.share_parameters("head", "embed");
  alone.output("y", alone.linear(u, alone.parameter("head.weight")));
  InferenceModel(alone, {.batch_size = 1});
}

TEST(SharedParameter, AreRefusedForLayersThatHaveNone) {
  const auto make = [](const std::string& part, bool shares) {
    Model model("m");
    const Value x = model.input("x", {2, 4, 4});
    const Value a = model.batch_norm2d("a" + part, x);
    if (shares) model.share_parameters("b", "a");
    model.output("y", model.add(a, model.batch_norm2d("b" + part, x, {.affine = false})));
    InferenceModel(model, {.batch_size = 1});
  };
  for (const std::string part : {"", ".norm"}) {
    EXPECT_EQ(refusal(Errc::invalid_model, [&] { make(part, true); }),
              "model \"m\": share_parameters \"b\": layer \"b" + part +
                  "\" has no parameters; leave this call out, or add the layer that should have "
                  "them");
    make(part, false);
  }
}

TEST(SharedParameter, DoNotCountAsUsedByALayerThatWasRefused) {
  Model model("m");
  const Value x = model.input("x", {4});
  model.output("y", model.linear("a", x, 2, false));
  model.share_parameters("b", "a");
  EXPECT_THROW(model.linear("b", x, 2), Error);  // The bias is missing.
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { InferenceModel(model, {.batch_size = 1}); }),
            "model \"m\": share_parameters \"b\": nothing has asked for the parameters of \"a\"; "
            "add a layer whose name is \"b\" or begins with that and a dot");
}

TEST(SharedParameter, AreAddedOnceByTheirNewNames) {
  Model model("m");
  model.parameter("a.w", {6});
  model.share_parameters("b", "a");
  model.parameter("b.w", {6});
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.parameter("b.w", {6}); }),
            "model \"m\": parameter \"b.w\": the name is used already");
}

TEST(SharedParameter, OfOneNameMayBeSharedAlone) {
  Model model("m");
  const Value x = model.input("x", {4});
  model.linear("a", x, 2);
  model.share_parameters("b.weight", "a.weight");
  model.linear("b", x, 2);
  EXPECT_EQ(model.parameters().size(), 3u);
  EXPECT_EQ(model.parameters().back().name, "b.bias");
  model.weight_norm("v", {2, 4});
  for (const char* part : {"weight_v", "weight_g"}) {
    const std::string layer = std::string("of ") + part;
    model.share_parameters(layer + "." + part, std::string("v.") + part);
    EXPECT_EQ(refusal(Errc::invalid_argument,
                      [&] {
                        model.weight_norm(layer, {2, 4});
                      }),
              "weight_norm \"" + layer +
                  "\": expected both weight_v and weight_g of another layer or neither, got one of "
                  "them");
  }
}

TEST(SharedParameter, OfTheLongestNameCount) {
  Model model("m");
  const Value x = model.input("x", {4});
  model.linear("a.out", x, 2);
  model.linear("c", x, 2, false);
  model.share_parameters("b", "a");
  model.share_parameters("d", "a");
  model.linear("b.out", x, 2, false);  // A layer may do without the bias of the other one.
  model.linear("d.out", x, 2);
  EXPECT_EQ(model.parameters().size(), 3u);
  Model nested("n");
  const Value y = nested.input("y", {4});
  nested.linear("a.in", y, 4);
  nested.linear("a.out", y, 2);
  nested.linear("c", y, 3);
  nested.share_parameters("b.out", "c");
  nested.share_parameters("b", "a");
  nested.linear("b.in", y, 4);
  nested.linear("b.out", y, 3);
  EXPECT_EQ(nested.parameters().size(), 6u);
}

TEST(SharedParameter, AreForgottenWithAChainThatWasTakenBack) {
  Model model("m");
  const Value x = model.input("x", {4});
  model.linear("a", x, 2);
  Sequential chain(model, x);
  const auto failing = [](Model& inside, Value y) -> Value {
    inside.share_parameters("b", "a");
    inside.linear("b", y, 2);
    throw 1;
  };
  EXPECT_THROW(chain.add(failing), int);
  model.linear("b", x, 3);
  EXPECT_EQ(model.parameters().size(), 4u);
}

}  // namespace
}  // namespace penstock::testing
