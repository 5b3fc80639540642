// This program trains a generative adversarial network. A generator makes points of noise, and a
// discriminator learns to tell them from points of a circle. Both are parts of one model, and each
// has a training with a loss, parameters and an optimizer of its own.
#include <cmath>
#include <iostream>
#include <numbers>
#include <penstock/penstock.hpp>
#include <random>
#include <vector>

using namespace penstock;

constexpr int batch = 64;
constexpr std::int64_t noise_width = 4, width = 32;

struct Gan {
  Model model;
  Value discriminator_loss, generator_loss;
};

/// Returns -log(sigmoid(score)), which is small if the score is high.
Value surprise(Model& model, const Value& score) {
  return -model.log(model.sigmoid(score));
}

Gan network() {
  Model model("gan", 1);
  const Value noise = model.input("noise", {noise_width}), real = model.input("real", {2});
  Value fake;
  {
    const auto block = model.block("generator");
    const Value hidden = model.relu(model.linear("generator.hidden", noise, width));
    fake = model.linear("generator.out", hidden, 2);
    model.output("fake", fake);
  }
  const auto block = model.block("discriminator");
  const Initializer start = Initializer::kaiming_normal(0.2);
  const Value weight = model.parameter("discriminator.hidden.weight", {width, 2}, start),
              bias =
                  model.parameter("discriminator.hidden.bias", {width}, Initializer::constant(0)),
              out = model.parameter("discriminator.out.weight", {1, width}, start);
  // The discriminator is used twice, with the same parameters.
  const auto score = [&](const Value& x) {
    return model.linear(model.leaky_relu(model.linear(x, weight, bias), 0.2), out);
  };
  const Value of_fake = score(fake), of_real = score(real);
  const Value mistakes = surprise(model, of_real) + surprise(model, -of_fake);
  return {.model = model,
          .discriminator_loss = model.identity_loss(mistakes),
          .generator_loss = model.identity_loss(surprise(model, of_fake))};
}

std::mt19937 random_numbers(1);

Tensor noise() {
  std::normal_distribution<float> normal;
  std::vector<float> numbers(batch * noise_width);
  for (float& number : numbers) number = normal(random_numbers);
  return {{batch, noise_width}, numbers};
}

Tensor circle() {
  std::uniform_real_distribution<float> angles(0, 2 * std::numbers::pi_v<float>);
  std::vector<float> points;
  for (int i = 0; i < batch; ++i) {
    const float angle = angles(random_numbers);
    points.insert(points.end(), {std::cos(angle), std::sin(angle)});
  }
  return {{batch, 2}, points};
}

/// Returns how far the points that the generator makes are from the circle, on average.
double distance(InferenceModel& generator) {
  const Tensor points = generator.run({noise()}).output("fake");
  double sum = 0;
  for (int i = 0; i < batch; ++i)
    sum += std::abs(std::hypot(points.as<float>()[2 * i], points.as<float>()[2 * i + 1]) - 1);
  return sum / batch;
}

int main() {
  const Gan gan = network();
  const Options options{.batch_size = batch};
  const Optimizer adam = Adam{.learning_rate = 5e-3, .beta1 = 0.5};
  TrainingModel discriminator(
      gan.model, options, adam,
      {.loss = gan.discriminator_loss, .trains = {"discriminator.*"}, .outputs = {}});
  TrainingModel generator(gan.model, options, adam,
                          {.loss = gan.generator_loss, .trains = {"generator.*"}, .outputs = {}});
  InferenceModel points(gan.model, options);

  const double before = distance(points);
  for (int round = 0; round < 1500; ++round) {
    discriminator.step({noise(), circle()});
    generator.step({noise()});
  }
  const double after = distance(points);
  std::cout << "mean distance from the circle: " << before << " before, " << after << " after\n";
  return after < before / 2 ? 0 : 1;
}
