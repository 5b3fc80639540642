// This program learns which small images show the same shape. Three images go through one network,
// that is, through layers with the same weights: an anchor, another image of the same shape, and
// one of another shape. The loss moves the first two together and the third away.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <penstock/penstock.hpp>
#include <random>
#include <string>
#include <vector>

using namespace penstock;

namespace {

constexpr std::int64_t size = 12, shapes = 6, features = 8;

/// Maps an image to features. The names of the layers begin with `branch`.
Value embed(Model& model, const std::string& branch, Value image) {
  const auto conv = [&](const std::string& name, Value x, std::int64_t outputs) {
    const Conv2dOptions options{.out_channels = outputs, .kernel = 3, .padding = 1};
    return model.relu(model.conv2d(branch + "." + name, x, options));
  };
  Value x = conv("conv1", image, 8);
  x = conv("conv2", model.max_pool2d(x), 16);
  x = model.flatten(model.max_pool2d(x));
  return model.linear(branch + ".out", x, features);
}

Model network() {
  Model model("siamese", 2);
  const Value anchor = embed(model, "anchor", model.input("anchor", {1, size, size}));
  model.share_parameters("near", "anchor");
  const Value near = embed(model, "near", model.input("near", {1, size, size}));
  model.share_parameters("far", "anchor");
  const Value far = embed(model, "far", model.input("far", {1, size, size}));
  model.output("anchor features", anchor);
  model.output("near features", near);
  model.output("far features", far);
  model.loss(model.triplet_margin_loss(anchor, near, far, {.margin = 1}));
  return model;
}

/// Appends an image of waves whose direction and length are those of `shape`, at a random place.
void draw(std::int64_t shape, std::mt19937& random, std::vector<float>& pixels) {
  std::normal_distribution<float> noise(0, 0.3f);
  const float angle = static_cast<float>(shape) * 0.5f, place = 10 * noise(random);
  for (int row = 0; row < size; ++row)
    for (int column = 0; column < size; ++column)
      pixels.push_back(std::sin(place + std::cos(angle) * static_cast<float>(row) +
                                std::sin(angle) * static_cast<float>(column)) +
                       noise(random));
}

std::vector<Tensor> triplets(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> images[3];
  for (std::int64_t i = 0; i < count; ++i) {
    const auto shape = static_cast<std::int64_t>(random() % shapes);
    const auto other = (shape + 1 + static_cast<std::int64_t>(random() % (shapes - 1))) % shapes;
    draw(shape, random, images[0]);
    draw(shape, random, images[1]);
    draw(other, random, images[2]);
  }
  std::vector<Tensor> tensors;
  for (const auto& pixels : images) tensors.emplace_back(Shape{count, 1, size, size}, pixels);
  return tensors;
}

double squared_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

}  // namespace

int main() {
  const Model model = network();
  const Options options{.batch_size = 32};
  TrainingModel training(model, options, Adam{.learning_rate = 0.003});
  DataLoader data(tensor_dataset(triplets(1024, 1)), options, {.shuffle = true});
  fit(training, data, {.epochs = 10});

  InferenceModel inference(model, options);
  const StepResult result = inference.run(triplets(32, 2));
  const auto row = [&](const char* name, std::size_t i) {
    return result.output(name).as<float>().subspan(i * features, features);
  };
  int right = 0;
  for (std::size_t i = 0; i < 32; ++i)
    right += squared_distance(row("anchor features", i), row("near features", i)) <
             squared_distance(row("anchor features", i), row("far features", i));
  std::cout << right << " of 32 new triplets are in the right order\n";
  return right >= 28 ? 0 : 1;
}
