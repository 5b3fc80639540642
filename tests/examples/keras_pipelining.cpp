// This is the program of the Keras tutorial. It trains a functional and a sequential model on one
// IPU, and both models in two stages on two IPUs, under each schedule, with fit(), evaluate() and
// predict(). All trainings end with the same bits. Usage: keras_pipelining [MNIST_DIRECTORY];
// without files it trains on a few synthetic digits.
#include <cstring>
#include <functional>
#include <iostream>
#include <penstock/penstock.hpp>

using namespace penstock;

constexpr int batch_size = 32, epochs = 4, gradient_accumulation = 4;
constexpr Sgd optimizer{.learning_rate = 0.01, .momentum = 0.9, .keras_variant = true};

Value dense(Model& model, const std::string& name, Value x, std::int64_t units) {
  return model.relu(model.linear(name, x, units));
}

void finish(Model& model, Value x, Value labels) {
  x = model.linear("logits", x, 10);
  model.output("logits", x);
  model.loss(model.cross_entropy(x, labels));
}

/// Returns a model in which each layer is called on the value of the layer before it.
Model functional() {
  Model model("functional");
  Value x = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  x = dense(model, "dense256", model.flatten(x), 256);
  x = dense(model, "dense128", x, 128);
  x = dense(model, "dense64", x, 64);
  x = dense(model, "dense32", x, 32);
  finish(model, x, labels);
  return model;
}

/// Returns the model of functional() with its layers in two stages.
Model functional_in_stages() {
  Model model("functional in stages");
  Value x = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  {
    const auto stage = model.pipeline_stage(0);
    x = dense(model, "dense256", model.flatten(x), 256);
    x = dense(model, "dense128", x, 128);
    x = dense(model, "dense64", x, 64);
  }
  const auto stage = model.pipeline_stage(1);
  finish(model, dense(model, "dense32", x, 32), labels);
  return model;
}

/// Returns a model that is written down as a list of layers.
Sequential sequential() {
  Model model("sequential");
  const Value x = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  Sequential layers(model, x);
  layers.flatten();
  for (const std::int64_t units : {256, 128, 64, 32})
    layers.dense("dense" + std::to_string(units), units, Activation::relu);
  layers.dense("logits", 10);
  model.output("logits", layers.output());
  model.loss(model.cross_entropy(layers.output(), labels));
  return layers;
}

/// Returns the model of sequential() with a stage for each layer.
Sequential sequential_in_stages() {
  Sequential layers = sequential();
  layers.set_stages({0, 0, 1, 1, 1, 1});
  return layers;
}

struct Data {
  std::shared_ptr<const Dataset> digits, test_digits;
  /// This is the number of micro-batches in a call, which is an epoch here.
  int steps_per_execution = 0;
};

struct Made {
  Model model;
  std::size_t stages = 0;  ///< Counts the model's stages, each of which has its own IPU.
};

/// Trains the model, and returns whether it had the expected number of stages and each of them
/// worked on all micro-batches.
bool train(const Made& made, const Data& data, PipelineSchedule schedule) {
  Options options{.batch_size = batch_size,
                  .device_iterations = data.steps_per_execution / gradient_accumulation};
  options.training.gradient_accumulation = gradient_accumulation;
  options.topology.schedule = schedule;
  TrainingModel training(made.model, options, optimizer);
  DataLoader loader(data.digits, options, {.shuffle = true, .seed = 1});
  const History history = fit(training, loader, {.epochs = epochs, .steps_per_epoch = 1});
  const std::vector<StageReport> stages = training.stage_reports();
  std::cout << made.model.name() << ", " << to_string(schedule) << ", " << stages.size()
            << " IPUs: " << history.updates << " updates, loss "
            << value_of(history.epochs.back().values, "loss") << '\n';
  const auto micro_batches = static_cast<std::uint64_t>(epochs * data.steps_per_execution);
  bool worked = stages.size() == made.stages;
  for (std::size_t i = 0; i < stages.size(); ++i)
    worked = worked && stages[i].ipu == static_cast<int>(i) &&
             stages[i].forward_runs == micro_batches && stages[i].backward_runs == micro_batches;
  return worked;
}

/// Returns whether evaluate() finds the same accuracy as the rows that predict() returns.
bool test(const Model& model, const Data& data) {
  InferenceModel inference(model, {.batch_size = batch_size, .device_iterations = 2});
  DataLoader loader(data.test_digits, inference.samples_per_run(), {.drop_last = false});
  const double found = evaluate(inference, loader, {accuracy("logits")}).values[0].value;
  const Tensor logits = predict(inference, loader)[0].tensor;
  std::int64_t correct = 0, row = 0;
  for (const Batch& batch : loader) {
    const std::int64_t end = row + batch[1].shape()[0];
    correct += count_correct(logits.rows(row, end), batch[1]);
    row = end;
  }
  std::cout << model.name() << ": accuracy " << 100 * found << " % of " << row << " digits\n";
  return row == logits.shape()[0] && row == data.test_digits->size() &&
         found == static_cast<double>(correct) / static_cast<double>(row);
}

// G1 and F7 of docs/reference.md: four models are trained under each of three schedules, and all
// end with the same bits.
int main(int argc, char** argv) {
  const Data data =
      argc > 1 ? Data{read_idx(argv[1], Split::train, {}), read_idx(argv[1], Split::test, {}), 500}
               : Data{synthetic_digits(640, 1, {}), synthetic_digits(100, 2, {}), 20};
  const std::function<Made()> programs[] = {[] {
                                              return Made{functional(), 1};
                                            },
                                            [] {
                                              return Made{sequential().model(), 1};
                                            },
                                            [] {
                                              return Made{functional_in_stages(), 2};
                                            },
                                            [] {
                                              return Made{sequential_in_stages().model(), 2};
                                            }};
  Tensor expected;
  bool same = true, worked = true;
  for (const auto& make : programs)
    for (const PipelineSchedule schedule :
         {PipelineSchedule::grouped, PipelineSchedule::interleaved, PipelineSchedule::sequential}) {
      const Made made = make();
      worked = train(made, data, schedule) && worked;
      // The weights of the first layer stand for all: the gradients of all other layers reach them.
      const Tensor weights = made.model.weight("dense256.weight");
      if (!expected) expected = weights;
      same = same && std::memcmp(weights.raw(), expected.raw(), expected.bytes()) == 0;
      if (schedule == PipelineSchedule::sequential) worked = test(made.model, data) && worked;
    }
  std::cout << (same ? "the same bits in all of them\n" : "their weights differ\n");
  return same && worked ? 0 : 1;
}
