#include <iostream>
#include <penstock/penstock.hpp>

using namespace penstock;

int main() {
  Model model("digits");
  Value x = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = model.conv2d("conv", x, {.out_channels = 8, .kernel = 5});
    x = model.relu(model.max_pool2d(x));
  }
  {
    const auto block = model.block("B2");
    x = model.linear("fc", model.flatten(x), 10);
    model.output("scores", x);
    model.loss(model.cross_entropy(x, labels));
  }

  // Two blocks make two stages, on two IPUs. Four micro-batches of 16 samples make an update.
  Options options{.batch_size = 16};
  options.training.gradient_accumulation = 4;
  TrainingModel training(model, options, AdamW{});
  DataLoader train_data(synthetic_digits(6400, 0, {}), options, {.shuffle = true});
  const History history = fit(training, train_data, {.epochs = 3});
  for (const EpochRecord& epoch : history.epochs)
    std::cout << "epoch " << epoch.epoch << ": loss " << value_of(epoch.values, "loss") << '\n';

  // Inference uses the same weights. The test images come from another seed.
  InferenceModel inference(model, {.batch_size = 50});
  DataLoader test_data(synthetic_digits(1000, 1, {}), inference.samples_per_run());
  const Evaluation test = evaluate(inference, test_data, {accuracy("scores")});
  std::cout << "accuracy on 1000 new images: " << value_of(test.values, "accuracy") << '\n';

  // A service answers one image at a time.
  InferenceModel service(model, {.batch_size = 1});
  const Batch first_batch = *test_data.begin();
  const Tensor image = first_batch.front().rows(0, 1);
  const Tensor scores = service.run({image}).output("scores");
  std::cout << "scores of the first one:";
  for (const float score : scores.as<float>()) std::cout << ' ' << score;
  std::cout << '\n';

  model.save_weights("digits.safetensors");
  return value_of(test.values, "accuracy") > 0.9 ? 0 : 1;
}
