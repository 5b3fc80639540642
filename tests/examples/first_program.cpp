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
    model.loss(model.cross_entropy(x, labels));
  }
  Options options{.batch_size = 16, .device_iterations = 10};
  options.training.gradient_accumulation = 4;

  TrainingModel training(model, options, AdamW{});  // two blocks: two stages, on two IPUs
  DataLoader loader(synthetic_digits(6400, 0, {}), options, {.shuffle = true});
  for (int epoch = 1; epoch <= 3; ++epoch)
    for (const Batch& batch : loader)
      std::cout << "epoch " << epoch << ": loss " << training.step(batch).mean_loss << '\n';
  model.save_weights("digits.safetensors");
}
