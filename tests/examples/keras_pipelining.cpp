// The Keras tutorial's program: a functional and a sequential model on one IPU and, in two stages,
// on two, under each schedule, trained with fit(). All of them end with the same bits. Usage:
// keras_pipelining [MNIST_DIRECTORY]; without files it trains on a few synthetic digits.
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

/// Each layer is called on the one before.
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

/// The same, with the stages of its layers.
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

/// Layers from a list.
Model sequential() {
  Model model("sequential");
  Value x = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  x = model.flatten(x);
  for (const std::int64_t units : {256, 128, 64, 32})
    x = dense(model, "dense" + std::to_string(units), x, units);
  finish(model, x, labels);
  return model;
}

/// Such a list cut in two: the layers from "dense128" on are stage 1.
Model sequential_in_stages() {
  Model model = sequential();
  LayerStages layers = model.stage_assignment();
  int number = 0;
  for (LayerStage& layer : layers) {
    if (layer.layer == "dense128") number = 1;
    layer.stage = number;
  }
  model.set_stage_assignment(layers);
  return model;
}

struct Data {
  std::shared_ptr<const Dataset> digits;
  int steps_per_execution = 0;  ///< micro-batches of a call, which is an epoch here
};

/// The first layer's weights after training, of which all others' depend.
Tensor train(const Model& model, const Data& data, PipelineSchedule schedule) {
  Options options{.batch_size = batch_size,
                  .device_iterations = data.steps_per_execution / gradient_accumulation};
  options.training.gradient_accumulation = gradient_accumulation;
  options.topology.schedule = schedule;
  TrainingModel training(model, options, optimizer);
  DataLoader loader(data.digits, options, {.shuffle = true, .seed = 1});
  const History history = fit(training, loader, {.epochs = epochs, .steps_per_epoch = 1});
  std::cout << model.name() << ", " << to_string(schedule) << ", "
            << training.stage_reports().size() << " IPUs: " << history.updates << " updates, loss "
            << value_of(history.epochs.back().values, "loss") << '\n';
  return model.weight("dense256.weight");
}

int main(int argc, char** argv) {
  const Data data = argc > 1 ? Data{read_idx(argv[1], Split::train, {}), 500}
                             : Data{synthetic_digits(640, 1, {}), 20};
  const Tensor expected = train(functional(), data, PipelineSchedule::sequential);
  bool same = true;
  for (Model (*make)() : {sequential, functional_in_stages, sequential_in_stages})
    for (const PipelineSchedule schedule :
         {PipelineSchedule::grouped, PipelineSchedule::interleaved, PipelineSchedule::sequential}) {
      const Tensor weights = train(make(), data, schedule);
      same = same && std::memcmp(weights.raw(), expected.raw(), expected.bytes()) == 0;
    }
  std::cout << (same ? "the same bits in all of them\n" : "their weights differ\n");
  return same ? 0 : 1;
}
