// These tests check that the cuts of a model into blocks, and the outputs that a host asks for,
// decide which layers are fused, but change no bit of a training.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t updates = 2;

using Layer = std::function<Value(Model&, Value)>;

Layer conv(const char* name, Conv2dOptions options) {
  return [=](Model& model, Value x) { return model.conv2d(name, x, options); };
}
Layer linear(const char* name, std::int64_t size) {
  return [=](Model& model, Value x) { return model.linear(name, model.flatten(x), size); };
}
Value relu(Model& model, Value x) {
  return model.relu(x);
}
Value pool(Model& model, Value x) {
  return model.max_pool2d(x);
}

struct Network {
  const char* name;
  std::vector<Layer> layers;
};

/// These networks have convolution, pooling and relu in each order in which the compiler fuses
/// them, in the batch-lane layout and, with 64 channels, without it.
const Network networks[] = {
    {"narrow",
     {conv("c1", {.out_channels = 7, .kernel = 3}), pool, relu,
      conv("c2", {.out_channels = 12, .kernel = 3, .padding = 1}), relu, pool, linear("f1", 17),
      relu, linear("f2", 4)}},
    {"with large kernels",
     {conv("c1", {.out_channels = 5, .kernel = 6, .padding = 3}), relu, pool,
      conv("c2", {.out_channels = 4, .kernel = 7, .padding = 3}), pool, relu, linear("f1", 4)}},
    {"with one relu each",
     {conv("c1", {.out_channels = 6, .kernel = 3}), relu,
      conv("c2", {.out_channels = 6, .kernel = 3}), relu, linear("f1", 4)}},
    {"wide",
     {conv("c1", {.out_channels = 64, .kernel = 3}), relu,
      conv("c2", {.out_channels = 64, .kernel = 3}), relu, pool, linear("f1", 4)}},
};

/// A Form says how a model is made of a network: the first `cut` layers are in a block of their
/// own, and the result of layer number `seen`, counted from 1, is an output. If one of the two
/// numbers is 0, there is no such block or no such output.
struct Form {
  std::size_t cut = 0, seen = 0;
};

void append_layers(const Network& network, std::size_t begin, std::size_t end, std::size_t seen,
                   Model& model, Value& x) {
  for (std::size_t i = begin; i < end; ++i) {
    x = network.layers[i](model, x);
    if (seen == i + 1) model.output("seen", x);
  }
}

Model model_of(const Network& network, Form form) {
  Model model("cuts", 1);
  Value x = model.input("x", {3, 11, 12});
  const Value labels = model.labels();
  if (form.cut > 0) {
    const auto block = model.block("A");
    append_layers(network, 0, form.cut, form.seen, model, x);
  }
  const auto block = model.block("B");
  append_layers(network, form.cut, network.layers.size(), form.seen, model, x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

Tensor images(std::int64_t count) {
  const Shape shape{count, 3, 11, 12};
  std::vector<float> pixels;
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    pixels.push_back(std::sin(0.77f * static_cast<float>(i)));
  return {shape, std::span<const float>(pixels)};
}

Tensor classes(std::int64_t count) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i % 4);
  return {{count}, std::span<const std::int64_t>(numbers)};
}

TrainingRun run(const Network& network, Form form, int batch) {
  const Options options{.batch_size = batch};
  const std::vector<Tensor> samples{images(updates * batch), classes(updates * batch)};
  return train(model_of(network, form), options, Sgd{.learning_rate = 0.1, .momentum = 0.9},
               samples, updates);
}

class Cuts : public ::testing::TestWithParam<int> {};

TEST_P(Cuts, AfterAnyLayerChangeNoBits) {
  for (const Network& network : networks) {
    const TrainingRun whole = run(network, {}, GetParam());
    for (std::size_t cut = 1; cut < network.layers.size(); ++cut)
      EXPECT_EQ(first_difference(run(network, {.cut = cut}, GetParam()), whole), "")
          << network.name << ", cut after layer " << cut;
  }
}

TEST_P(Cuts, AndOutputsInTheMiddleChangeNoBits) {
  for (const Network& network : networks) {
    const TrainingRun unseen = run(network, {}, GetParam());
    for (std::size_t seen = 1; seen < network.layers.size(); ++seen)
      EXPECT_EQ(first_difference(run(network, {.seen = seen}, GetParam()), unseen), "")
          << network.name << ", an output after layer " << seen;
  }
}

INSTANTIATE_TEST_SUITE_P(Batches, Cuts, ::testing::Values(1, 5, 16, 32, 40),
                         ::testing::PrintToStringParamName());

/// Returns the network of docs/porting.md, with the blocks that the document adds if `blocks` is
/// true.
Model ported_model(bool blocks) {
  Model model("fashion", 1);
  const auto begin = [&](const char* name) {
    if (blocks) model.begin_block(name);
  };
  Value x = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  begin("B1");
  x = model.max_pool2d(model.relu(model.conv2d("conv1", x, {.out_channels = 5, .kernel = 3})));
  begin("B2");
  x = model.relu(model.conv2d("conv2", x, {.out_channels = 12, .kernel = 5}));
  x = model.group_norm("norm", x, 3);
  begin("B3");
  x = model.relu(model.linear("fc1", model.flatten(x), 100));
  begin("B4");
  x = model.linear("fc2", x, 10);
  model.output("logits", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

TEST(Porting, H11_BlocksAloneChangeNoBits) {
  const Options options{.batch_size = 16};
  const Sgd rule{.learning_rate = 0.01, .momentum = 0.9};
  const auto samples = all_samples(*synthetic_digits(updates * 16, 1, {}));
  const TrainingRun before = train(ported_model(false), options, rule, samples, updates);
  const TrainingRun after = train(ported_model(true), options, rule, samples, updates);
  EXPECT_EQ(before.stages.size(), 1u);
  EXPECT_EQ(after.stages.size(), 4u);
  EXPECT_EQ(first_difference(before, after), "");
  EXPECT_EQ(before.losses, after.losses);
}

}  // namespace
}  // namespace penstock::testing
