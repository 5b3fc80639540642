// This program trains a variational autoencoder of small images, and lets its decoder draw new
// ones. The encoder gives a mean and the logarithm of a variance for each sample, the noise comes
// as an input, and the loss has two parts: how far the decoded image is from the image, and how far
// the codes are from the normal distribution.
#include <cmath>
#include <cstring>
#include <iostream>
#include <memory>
#include <penstock/penstock.hpp>
#include <random>
#include <vector>

using namespace penstock;

namespace {

constexpr std::int64_t size = 8, pixels = size * size, codes = 2;

/// A Blobs has images of one bright spot each, and noise for the codes, which is drawn anew in each
/// epoch.
class Blobs : public Dataset {
 public:
  std::int64_t size() const override { return 1024; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    std::mt19937 place(static_cast<unsigned>(request.index));
    std::uniform_real_distribution<float> inside(2, 5);
    const float x = inside(place), y = inside(place);
    float image[pixels];
    for (int i = 0; i < pixels; ++i) {
      const float right = static_cast<float>(i % ::size) - x,
                  down = static_cast<float>(i / ::size) - y;
      image[i] = std::exp(-(right * right + down * down) / 3);
    }
    std::memcpy(destinations[0], image, sizeof image);
    std::mt19937_64 random(request.epoch * 100000 + static_cast<std::uint64_t>(request.index));
    std::normal_distribution<float> normal;
    const float noise[codes] = {normal(random), normal(random)};
    std::memcpy(destinations[1], noise, sizeof noise);
  }

 private:
  std::vector<Field> fields_ = {{"image", DType::f32, {pixels}}, {"noise", DType::f32, {codes}}};
};

/// Adds the decoder, whose weights exist already if `again` is true.
Value decoded(Model& model, Value code, bool again) {
  const auto layer = [&](const std::string& name, Value x, std::int64_t features) {
    return again
               ? model.linear(x, model.parameter(name + ".weight"), model.parameter(name + ".bias"))
               : model.linear(name, x, features);
  };
  return model.sigmoid(layer("decoder2", model.relu(layer("decoder1", code, 64)), pixels));
}

Model network() {
  Model model("autoencoder", 1);
  const Value image = model.input("image", {pixels}), noise = model.input("noise", {codes});
  const Value hidden = model.relu(model.linear("encoder", image, 64));
  const Value mean = model.linear("mean", hidden, codes);
  const Value log_variance = model.linear("log_variance", hidden, codes);
  const Value code = mean + model.exp(0.5 * log_variance) * noise;
  const Value result = decoded(model, code, false);
  const Value reconstruction = model.binary_cross_entropy(result, image, LossReduction::sum);
  const Value divergence =
      -0.5 * model.sum(1 + log_variance - model.square(mean) - model.exp(log_variance), {0, 1});
  model.output("reconstruction", model.mse_loss(result, image));
  // Drawing new images takes the noise alone as the code.
  model.output("drawn", decoded(model, noise, true));
  model.loss(model.identity_loss(reconstruction + divergence));
  return model;
}

}  // namespace

int main() {
  const Model model = network();
  const Options options{.batch_size = 32};
  TrainingModel training(model, options, Adam{.learning_rate = 0.003});
  DataLoader data(std::make_shared<Blobs>(), options, {.shuffle = true});
  fit(training, data, {.epochs = 15, .metrics = {mean_of("reconstruction")}});

  InferenceModel inference(model, options);
  DataLoader images(std::make_shared<Blobs>(), options);
  const Evaluation evaluation = evaluate(inference, images, {mean_of("reconstruction")});
  const double error = value_of(evaluation.values, "reconstruction");
  const Tensor blank = Tensor::zeros(DType::f32, {1, pixels});
  const Tensor code({1, codes}, {0.5f, -0.5f});
  const StepResult result = inference.run({blank, code});
  const auto image = result.output("drawn").as<float>();
  for (std::size_t i = 0; i < image.size(); ++i)
    std::cout << " .:-=+*#%@"[std::min(9, static_cast<int>(10 * image[i]))]
              << ((i + 1) % static_cast<std::size_t>(size) == 0 ? "\n" : "");
  std::cout << "squared error of a pixel: " << error << '\n';
  return error < 0.01 ? 0 : 1;
}
