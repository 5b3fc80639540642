// These tests check that data that come into a model as bytes, i32 or bool give the bits of the
// same numbers as f32 and i64, on every topology, and that their messages have as many bytes less.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

/// Returns a tensor whose elements are `elements`, as the type T.
template <class T>
Tensor tensor_of(const Shape& shape, const std::vector<std::int64_t>& elements, DType dtype) {
  const auto block = std::make_shared<std::vector<T>>();
  for (const std::int64_t element : elements) block->push_back(static_cast<T>(element));
  return Tensor::wrap(
      dtype, shape, std::shared_ptr<std::byte>(block, reinterpret_cast<std::byte*>(block->data())));
}

/// Returns a tensor of numbers from 0 to `limit` - 1 that depend on `seed`.
Tensor labels(const Shape& shape, std::int64_t seed, std::int64_t limit, DType dtype) {
  std::vector<std::int64_t> elements;
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    elements.push_back((i * i * 31 + i * 17 + seed * 7 + i / 3) % limit);
  if (dtype == DType::i32) return tensor_of<std::int32_t>(shape, elements, dtype);
  if (dtype == DType::i64) return tensor_of<std::int64_t>(shape, elements, dtype);
  return tensor_of<std::uint8_t>(shape, elements, dtype);
}

constexpr std::int64_t updates = 3, batch = 4, accumulation = 3, length = 7;
constexpr double scale = 1 / (255 * 0.3081), shift = -0.1307 / 0.3081;

/// Returns a network of four blocks. It takes images, the ids of tokens, a mask of the tokens and
/// labels: as u8, i32, bool and i32, or, if `wide` is true, as f32, i64, f32 and i64. The mask and
/// the ids are needed in the third block, and the labels in the last one.
Model network(bool wide) {
  Model model("types", 5);
  Value image = model.input("image", {1, 8, 8}, wide ? DType::f32 : DType::u8);
  const Value ids = model.input("ids", {length}, wide ? DType::i64 : DType::i32);
  Value mask = model.input("mask", {length, 1}, wide ? DType::f32 : DType::boolean);
  const Value labels = model.labels("labels", wide ? DType::i64 : DType::i32);
  model.begin_block("B1");
  if (!wide) image = model.to_float(image, scale, shift);
  Value x = model.relu(model.conv2d("conv", image, {.out_channels = 4, .kernel = 3}));
  model.begin_block("B2");
  x = model.dropout("drop", model.tanh(model.linear("fc", model.flatten(x), 6)), 0.3);
  model.begin_block("B3");
  if (!wide) mask = model.to_float(mask);
  const Value words = model.mul(model.embedding("words", ids, 11, 6), mask);
  x = model.add(x, model.sum(words, {1}));
  model.begin_block("B4");
  x = model.linear("out", x, 5);
  model.output("scores", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

/// Returns a tensor of the type T with the same numbers as `tensor`, whose elements are of type
/// From.
template <class T, class From>
Tensor converted(const Tensor& tensor, auto&& number_of) {
  std::vector<T> numbers;
  for (const From element : tensor.as<From>()) numbers.push_back(number_of(element));
  return {tensor.shape(), std::span<const T>(numbers)};
}

float pixel(std::uint8_t byte) {
  const volatile float product = static_cast<float>(byte) * static_cast<float>(scale);
  return product + static_cast<float>(shift);
}

std::vector<Tensor> narrow_samples(std::int64_t count) {
  return {labels({count, 1, 8, 8}, 1, 256, DType::u8), labels({count, length}, 2, 11, DType::i32),
          labels({count, length, 1}, 3, 2, DType::boolean), labels({count}, 4, 5, DType::i32)};
}

std::vector<Tensor> wide_samples(const std::vector<Tensor>& narrow) {
  const auto widened = [](std::int32_t number) { return std::int64_t{number}; };
  return {converted<float, std::uint8_t>(narrow[0], pixel),
          converted<std::int64_t, std::int32_t>(narrow[1], widened),
          converted<float, bool>(narrow[2], [](bool truth) { return truth ? 1.0f : 0.0f; }),
          converted<std::int64_t, std::int32_t>(narrow[3], widened)};
}

struct Topology {
  const char* stages;
  std::vector<int> ipus;
  int replicas = 1, iterations = 1;
  bool recompute = false, offload = false;
  PipelineSchedule schedule = PipelineSchedule::grouped;
};

const Topology topologies[] = {
    {.stages = "B1,B2,B3,B4", .ipus = {0}},
    {.stages = "B1,B2,B3,B4", .ipus = {0}, .iterations = 3},
    {.stages = "B1|B2|B3|B4", .ipus = {0, 1, 2, 3}},
    {.stages = "B1|B2|B3|B4", .ipus = {0, 1, 2, 3}, .recompute = true},
    {.stages = "B1,B2|B3,B4",
     .ipus = {0, 1},
     .iterations = 3,
     .recompute = true,
     .schedule = PipelineSchedule::interleaved},
    {.stages = "B1,B2|B3,B4", .ipus = {0, 1}, .offload = true},
    {.stages = "B1|B2|B3|B4", .ipus = {0, 1, 1, 0}, .iterations = 3, .offload = true},
    {.stages = "B1,B2,B3,B4", .ipus = {0}, .replicas = 2},
    {.stages = "B1|B2,B3|B4", .ipus = {0, 1, 2}, .replicas = 2, .recompute = true},
};

Options options_of(const Topology& topology) {
  Options options{.batch_size = batch, .device_iterations = topology.iterations, .seed = 3};
  options.training.gradient_accumulation = accumulation;
  options.training.recompute = topology.recompute;
  options.training.offload.activations.on = topology.offload;
  options.topology.stages = parse_stages(topology.stages);
  options.topology.ipus = topology.ipus;
  options.topology.replication_factor = topology.replicas;
  options.topology.schedule = topology.schedule;
  return options;
}

TrainingRun trained(bool wide, const Topology& topology) {
  const std::vector<Tensor> narrow =
      narrow_samples(batch * accumulation * topology.replicas * updates);
  return train(network(wide), options_of(topology), AdamW{.learning_rate = 0.01},
               wide ? wide_samples(narrow) : narrow, updates);
}

TEST(DataTypes, GiveTheBitsOfF32AndI64OnEveryTopology) {
  const TrainingRun alone = trained(true, topologies[0]);
  const TrainingRun pair = trained(true, {.stages = "B1,B2,B3,B4", .ipus = {0}, .replicas = 2});
  ASSERT_NE(first_difference(alone, pair), "");
  for (const Topology& topology : topologies)
    EXPECT_EQ(first_difference(trained(false, topology), topology.replicas == 1 ? alone : pair), "")
        << topology.stages << " with " << topology.replicas << " replicas";
}

TEST(DataTypes, AreThoseOfAPlanFromTheCacheToo) {
  const TemporaryDirectory directory;
  const Topology& four_stages = topologies[2];
  Options options = options_of(four_stages);
  options.runtime.cache_directory = directory.path().string();
  const std::vector<Tensor> samples = narrow_samples(batch * accumulation * updates);
  const TrainingRun expected = trained(false, four_stages);
  for (const bool from_cache : {false, true}) {
    EXPECT_EQ(TrainingModel(network(false), options).compile_report().from_cache, from_cache);
    EXPECT_EQ(first_difference(
                  train(network(false), options, AdamW{.learning_rate = 0.01}, samples, updates),
                  expected),
              "");
  }
}

/// Returns the weight of a network of digits, u8 or f32, that was trained on shuffled samples.
Tensor trained_on_digits(bool wide) {
  const auto dataset = synthetic_digits(96, 4, as_bytes);
  std::vector<Tensor> samples = all_samples(*dataset);
  if (wide) samples[0] = converted<float, std::uint8_t>(samples[0], pixel);
  Model model("digits", 1);
  Value x = model.input("image", {1, 28, 28}, wide ? DType::f32 : DType::u8);
  if (!wide) x = model.to_float(x, scale, shift);
  x = model.linear("fc", model.flatten(x), 10);
  model.loss(model.cross_entropy(x, model.labels("label")));
  const Options options{.batch_size = 8, .device_iterations = 2};
  TrainingModel training(model, options, Sgd{.learning_rate = 0.01});
  DataLoader data(wide ? tensor_dataset(samples) : dataset, options,
                  {.shuffle = true, .workers = 3, .seed = 5});
  fit(training, data, {.epochs = 3});
  return model.weight("fc.weight");
}

TEST(DataTypes, GiveTheBitsOfF32WhenALoaderShufflesThem) {
  EXPECT_TRUE(same_bits(trained_on_digits(false), trained_on_digits(true)));
}

TEST(DataTypes, GiveTheBitsOfF32AndI64InInferenceAndItsLastRuns) {
  const Options options{.batch_size = 4, .device_iterations = 2};
  InferenceModel narrow(network(false), options), wide(network(true), options);
  for (const std::int64_t count : {8, 5, 1}) {
    const std::vector<Tensor> samples = narrow_samples(count);
    const auto first_three = [](const std::vector<Tensor>& inputs) {
      return std::vector<Tensor>(inputs.begin(), inputs.begin() + 3);
    };
    EXPECT_TRUE(same_bits(narrow.run(first_three(samples)).output("scores"),
                          wide.run(first_three(wide_samples(samples))).output("scores")))
        << count;
  }
}

/// Returns how many bytes the tensor called `tensor` has for a micro-batch on its way to a stage.
std::int64_t bytes_on_the_way(const CompileReport& report, const std::string& tensor) {
  const auto edge = std::ranges::find(report.edges, tensor, &EdgePlanReport::tensor);
  return edge == report.edges.end() ? -1 : edge->bytes;
}

TEST(DataTypes, MakeMessagesAsSmallAsTheyAre) {
  const Topology& four_stages = topologies[2];
  const TrainingModel narrow(network(false), options_of(four_stages));
  const TrainingModel wide(network(true), options_of(four_stages));
  const auto bytes = [](const TrainingModel& model, const char* input) {
    return bytes_on_the_way(model.compile_report(), input);
  };
  EXPECT_EQ(bytes(narrow, "image"), batch * 64);
  EXPECT_EQ(bytes(wide, "image"), 4 * bytes(narrow, "image"));
  EXPECT_EQ(bytes(narrow, "ids"), batch * length * 4);
  EXPECT_EQ(bytes(wide, "ids"), 2 * bytes(narrow, "ids"));
  EXPECT_EQ(bytes(narrow, "mask"), batch * length);
  EXPECT_EQ(bytes(wide, "mask"), 4 * bytes(narrow, "mask"));
  EXPECT_EQ(bytes(wide, "labels"), 2 * bytes(narrow, "labels"));
}

/// Returns a network that moves bytes in its first block and makes numbers of them in the second
/// or, if `early` is true, in the first one.
Model moving_network(bool early) {
  Model model("moving", 2);
  const Value image = model.input("image", {2, 6}, DType::u8);
  model.begin_block("B1");
  Value x = model.flatten(model.transpose(image, {0, 2, 1}));
  if (early) x = model.to_float(x, scale, shift);
  model.begin_block("B2");
  if (!early) x = model.to_float(x, scale, shift);
  x = model.linear("fc", x, 3);
  model.output("y", x);
  model.loss(model.cross_entropy(x, model.labels("labels", DType::u8)));
  return model;
}

TEST(DataTypes, TravelBetweenStagesAsBytes) {
  const Topology two_stages{.stages = "B1|B2", .ipus = {0, 1}};
  const std::vector<Tensor> samples{
      labels({batch * accumulation * updates, 2, 6}, 1, 256, DType::u8),
      labels({batch * accumulation * updates}, 2, 3, DType::u8)};
  const auto run = [&](bool early) {
    return train(moving_network(early), options_of(two_stages), Sgd{.learning_rate = 0.1}, samples,
                 updates);
  };
  const TrainingRun early = run(true), late = run(false);
  EXPECT_EQ(first_difference(early, late), "");
  EXPECT_EQ(late.stages[0].sent_bytes, batch * 12 * accumulation * updates);
  EXPECT_EQ(early.stages[0].sent_bytes, 4 * late.stages[0].sent_bytes);
}

TEST(DataTypes, ComeOutOfAModelAsTheyAre) {
  Model model("outputs");
  const Value bytes = model.input("bytes", {6}, DType::u8);
  model.output("turned", model.transpose(model.reshape(bytes, {2, 3}), {0, 2, 1}));
  model.output("numbers", model.to_i64(model.reshape(bytes, {3, 2})));
  InferenceModel serving(model, {.batch_size = 2, .device_iterations = 2});
  const Tensor x = labels({3, 6}, 1, 256, DType::u8);
  const StepResult result = serving.run({x});
  const auto in = x.as<std::uint8_t>(), turned = result.output("turned").as<std::uint8_t>();
  ASSERT_EQ(result.output("turned").shape(), (Shape{3, 3, 2}));
  for (std::size_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(turned[i], in[i / 6 * 6 + i % 2 * 3 + i % 6 / 2]);
  EXPECT_EQ(result.output("numbers").as<std::int64_t>()[7], std::int64_t{in[7]});
}

}  // namespace
}  // namespace penstock::testing
