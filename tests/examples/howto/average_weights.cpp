// This program trains a classifier with a high learning rate, and evaluates the moving average of
// its weights, which moves less from step to step than the weights do.
#include <iostream>
#include <penstock/penstock.hpp>

using namespace penstock;

namespace {

Model network() {
  Model model("digits");
  Value x = model.flatten(model.input("image", {1, 28, 28}));
  const Value labels = model.labels();
  x = model.linear("out", model.relu(model.linear("hidden", x, 32)), 10);
  const Value loss = model.cross_entropy(x, labels);
  model.output("loss", loss);
  model.output("scores", x);
  model.loss(loss);
  return model;
}

}  // namespace

int main() {
  const Model model = network();
  const Options options{.batch_size = 32};
  TrainingModel training(model, options, Sgd{.learning_rate = 0.2});
  const ModelAverage average(model, {.decay = 0.95});
  InferenceModel validation(average.model(), options);
  DataLoader data(synthetic_digits(960, 0, {}), options, {.shuffle = true});
  DataLoader others(synthetic_digits(320, 1, {}), 32);
  const History history = fit(training, data,
                              {.epochs = 4,
                               .metrics = {mean_of("loss"), accuracy("scores")},
                               .validation_model = &validation,
                               .validation_data = &others,
                               .callbacks = {average.callback()}});
  average.model().save_weights("average.safetensors");
  for (const EpochRecord& epoch : history.epochs)
    std::cout << "accuracy of the average: " << value_of(epoch.values, "val_accuracy") << '\n';
  return value_of(history.epochs.back().values, "val_accuracy") > 0.5 ? 0 : 1;
}
