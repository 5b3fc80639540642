// These tests run layers that move, find and reduce elements: what they compute, and that a
// training has the bits of a single stage, also where integers go from stage to stage.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "penstock/inference_model.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

using Floats = std::vector<float>;
using Build = std::function<Value(Model&, Value)>;

/// Returns what the layers of `build` compute of two samples [2,3]: 0 to 5 and 6 to 11.
Tensor computed(const Build& build) {
  Model model("functions");
  model.output("y", build(model, model.input("x", {2, 3})));
  InferenceModel inference(model, {.batch_size = 2});
  Floats numbers(12);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  return inference.run({Tensor({2, 2, 3}, std::span<const float>(numbers))}).output("y");
}

struct Row {
  const char* name;
  Build build;
  Shape shape;
  Floats expected;
};

const Row functions[] = {
    {"slice with a step",
     [](Model& m, Value x) { return m.slice(x, 2, 0, 3, 2); },
     {2, 2, 2},
     {0, 2, 3, 5, 6, 8, 9, 11}},
    {"flip",
     [](Model& m, Value x) {
       return m.flip(x, {1, 2});
     },
     {2, 2, 3},
     {5, 4, 3, 2, 1, 0, 11, 10, 9, 8, 7, 6}},
    {"roll",
     [](Model& m, Value x) { return m.roll(x, 1, -1); },
     {2, 2, 3},
     {2, 0, 1, 5, 3, 4, 8, 6, 7, 11, 9, 10}},
    {"repeat",
     [](Model& m, Value x) {
       return m.repeat(m.slice(x, 1, 0, 1), {2, 2});
     },
     {2, 2, 6},
     {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 6, 7, 8, 6, 7, 8, 6, 7, 8, 6, 7, 8}},
    {"pad",
     [](Model& m, Value x) {
       return m.pad(m.slice(x, 2, 0, 1), {1, 0, 0, 1}, {.value = -1});
     },
     {2, 3, 2},
     {-1, 0, -1, 3, -1, -1, -1, 6, -1, 9, -1, -1}},
    {"pad by reflection",
     [](Model& m, Value x) {
       return m.pad(m.slice(x, 1, 0, 1), {2, 1}, {.mode = PadMode::reflect});
     },
     {2, 1, 6},
     {2, 1, 0, 1, 2, 1, 8, 7, 6, 7, 8, 7}},
    {"stack of unbind",
     [](Model& m, Value x) {
       const std::vector<Value> rows = m.unbind(x);
       return m.stack({rows[1], rows[0]}, 2);
     },
     {2, 3, 2},
     {3, 0, 4, 1, 5, 2, 9, 6, 10, 7, 11, 8}},
    {"concat of split",
     [](Model& m, Value x) {
       const std::vector<Value> parts = m.split(x, {1, 2}, 2);
       return m.concat({parts[1], parts[0]}, 2);
     },
     {2, 2, 3},
     {1, 2, 0, 4, 5, 3, 7, 8, 6, 10, 11, 9}},
    {"expand",
     [](Model& m, Value x) {
       return m.expand(m.slice(x, 2, 1, 2), {-1, 2});
     },
     {2, 2, 2},
     {1, 1, 4, 4, 7, 7, 10, 10}},
    {"gather of topk",
     [](Model& m, Value x) { return m.gather(x, 2, m.topk(x, 2).indices); },
     {2, 2, 2},
     {2, 1, 5, 4, 8, 7, 11, 10}},
    {"one_hot of argmin",
     [](Model& m, Value x) { return m.one_hot(m.argmin(x, 2), 3); },
     {2, 2, 3},
     {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}},
    {"scatter_add",
     [](Model& m, Value x) {
       return m.scatter_add(x, 2, m.argmax(x, 2, true), m.sum(x, {2}, true));
     },
     {2, 2, 3},
     {0, 1, 5, 3, 4, 17, 6, 7, 29, 9, 10, 41}},
    {"sort",
     [](Model& m, Value x) { return m.sort(x, 1, true).values; },
     {2, 2, 3},
     {3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8}},
    {"tril of triu",
     [](Model& m, Value x) { return m.tril(m.triu(x), 1); },
     {2, 2, 3},
     {0, 1, 0, 0, 4, 5, 6, 7, 0, 0, 10, 11}},
    {"prod", [](Model& m, Value x) { return m.prod(x, {2}); }, {2, 2}, {0, 60, 336, 990}},
    {"norm",
     [](Model& m, Value x) {
       return m.norm(x, {1, 2}, 1);
     },
     {2},
     {15, 51}},
    {"cumsum",
     [](Model& m, Value x) { return m.cumsum(x, 2); },
     {2, 2, 3},
     {0, 1, 3, 3, 7, 12, 6, 13, 21, 9, 19, 30}},
};

TEST(TensorFunctions, ComputeOfEachSampleWhatPyTorchDoes) {
  for (const Row& row : functions)
    EXPECT_TRUE(
        same_bits(computed(row.build), Tensor(row.shape, std::span<const float>(row.expected))))
        << row.name;
}

TEST(TensorFunctions, ReturnIntegers) {
  const Tensor places = computed([](Model& m, Value x) { return m.argmax(x, 1); });
  const std::vector<std::int64_t> expected(6, 1);
  EXPECT_TRUE(same_bits(places, Tensor({2, 3}, std::span<const std::int64_t>(expected))));
}

/// Returns a model in four blocks that uses these layers. Integers are computed in its first block
/// and used in the others.
Model model_of_functions() {
  Model m("functions", 5);
  const Value ids = m.input("ids", {4}, DType::i64), labels = m.labels();
  Value x;
  Sorted best;
  Value turned;
  {
    const auto block = m.block("B1");
    turned = m.flip(ids, {1});
    x = m.embedding("words", m.concat({ids, turned}), 11, 6);
    best = m.topk(x, 3);
    x = x + m.pad(best.values, {3, 0});
  }
  {
    const auto block = m.block("B2");
    x = m.matmul(m.cumsum(x, 1), m.parameter("projection", {6, 6}));
    x = m.scatter_add(m.roll(x, 2, 1), 2, best.indices, m.gather(x, 2, best.indices));
  }
  {
    const auto block = m.block("B3");
    const Value rows = m.tanh(m.matmul(m.tril(m.slice(x, 1, 0, 8, 2)), x, false, true));
    x = m.concat({m.logsumexp(x, {1}), m.norm(x, {2}), m.prod(rows, {-1})});
    x = m.tanh(m.linear("hidden", x, 6));
  }
  const auto block = m.block("B4");
  x = m.linear("out", x + m.index_select(m.sum(m.one_hot(turned, 11), {1}), 1, {1, 2, 3, 4, 5, 6}),
               11);
  m.output("best", m.slice(best.indices, 1, 0, 1));
  m.loss(m.cross_entropy(x, labels));
  return m;
}

Tensor words(const Shape& shape, std::int64_t stride) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < shape.elements(); ++i) numbers.push_back(i * i * stride % 11);
  return {shape, std::span<const std::int64_t>(numbers)};
}

TrainingRun trained(const char* stages, std::vector<int> ipus, bool recompute, int threads) {
  constexpr std::int64_t updates = 4, samples = 3 * 4 * updates;
  Options options{.batch_size = 3};
  options.topology.stages = parse_stages(stages);
  options.topology.ipus = std::move(ipus);
  options.topology.threads_per_ipu = threads;
  options.training.gradient_accumulation = 4;
  options.training.recompute = recompute;
  return train(model_of_functions(), options, AdamW{.learning_rate = 0.01},
               {words({samples, 4}, 3), words({samples}, 5)}, updates);
}

TEST(TensorFunctions, TrainToTheBitsOfOneStage) {
  const TrainingRun reference = trained("B1,B2,B3,B4", {0}, false, 1);
  for (const bool recompute : {false, true})
    for (const int threads : {1, 2}) {
      const TrainingRun two = trained("B1,B2|B3,B4", {0, 1}, recompute, threads);
      const TrainingRun four = trained("B1|B2|B3|B4", {0, 1, 2, 3}, recompute, threads);
      EXPECT_EQ(first_difference(two, reference), "") << recompute << threads;
      EXPECT_EQ(first_difference(four, reference), "") << recompute << threads;
    }
}

TEST(TensorFunctions, AreToldOfAnIndexOutOfRangeBeforeACall) {
  Model model("indices");
  const Value x = model.input("x", {3}), index = model.input("index", {2}, DType::i64);
  // The indices are checked on their way through layers that keep all of them, too.
  model.output("y", model.gather(x, 1, model.concat({index, model.reshape(index, {2})})));
  InferenceModel inference(model, {.batch_size = 1});
  const Tensor row({1, 3}, {5, 6, 7});
  const auto indices = [](std::vector<std::int64_t> two) {
    return Tensor({1, 2}, std::span<const std::int64_t>(two));
  };
  EXPECT_NE(refusal(Errc::invalid_data,
                    [&] {
                      inference.run({row, indices({0, 3})});
                    }),
            "accepted");
  EXPECT_TRUE(
      same_bits(inference.run({row, indices({2, 0})}).output("y"), Tensor({1, 4}, {7, 5, 7, 5})));
}

}  // namespace
}  // namespace penstock::testing
