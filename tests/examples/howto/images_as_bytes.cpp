// This program trains on images that are bytes in the dataset, in the loader's batches and on the
// way to the first stage, which makes numbers of them.
#include <iostream>
#include <penstock/penstock.hpp>

using namespace penstock;

namespace {

Model network() {
  Model model("digits", 1);
  const Value image = model.input("image", {1, 28, 28}, DType::u8);
  const Value label = model.labels("label");
  // These are (x/255 - 0.1307) / 0.3081 for each pixel x.
  Value x = model.to_float(image, 1 / (255 * 0.3081), -0.1307 / 0.3081);
  x = model.relu(model.conv2d("conv", x, {.out_channels = 8, .kernel = 5, .stride = 2}));
  x = model.linear("fc", model.flatten(x), 10);
  model.output("scores", x);
  model.loss(model.cross_entropy(x, label));
  return model;
}

}  // namespace

int main() {
  const Model model = network();
  const Options options{.batch_size = 32};
  TrainingModel training(model, options, AdamW{.learning_rate = 0.01});
  DataLoader data(synthetic_digits(1920, 0, as_bytes), options, {.shuffle = true});
  const History history = fit(training, data, {.epochs = 2, .metrics = {accuracy("scores")}});
  const double accuracy = value_of(history.epochs.back().values, "accuracy");
  std::cout << "accuracy " << accuracy << '\n';
  for (const EdgePlanReport& edge : training.compile_report().edges)
    if (edge.tensor == "image") std::cout << edge.bytes << " bytes of images a micro-batch\n";
  return accuracy > 0.8 ? 0 : 1;
}
