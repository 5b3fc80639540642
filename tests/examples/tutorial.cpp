// This is the program of docs/tutorial.md, which explains it part by part.
#include <cmath>
#include <iostream>
#include <penstock/penstock.hpp>
#include <vector>

using namespace penstock;

namespace {

// Returns points around two interleaved half circles; the label says which.
std::vector<Tensor> two_moons(std::int64_t count, std::uint64_t seed) {
  std::vector<float> points;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const float angle = static_cast<float>(seed >> 40) / static_cast<float>(1 << 24) * 3.1416f;
    const float noise = static_cast<float>(seed >> 20 & 0xff) / 1280.0f - 0.1f;
    const bool second = i % 2 == 1;
    points.push_back(second ? 1.0f - std::cos(angle) : std::cos(angle) + noise);
    points.push_back(second ? 0.5f - std::sin(angle) + noise : std::sin(angle));
    labels.push_back(second);
  }
  return {Tensor({count, 2}, points), Tensor({count}, labels)};
}

Model network() {
  Model model("moons", 1);
  Value x = model.input("point", {2});
  const Value labels = model.labels();
  for (const std::string name : {"B1", "B2", "B3"}) {
    const auto block = model.block(name);
    x = model.tanh(model.linear(name + ".fc", x, 32));
  }
  const auto block = model.block("B4");
  x = model.linear("B4.fc", x, 2);
  model.output("scores", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

double accuracy_of(const Model& model) {
  InferenceModel inference(model, {.batch_size = 32});
  DataLoader data(tensor_dataset(two_moons(500, 2)), inference.samples_per_run(),
                  {.drop_last = false});
  return value_of(evaluate(inference, data, {accuracy("scores")}).values, "accuracy");
}

}  // namespace

int main() {
  const Model model = network();

  Options options{.batch_size = 8};
  options.training.gradient_accumulation = 8;
  options.topology.stages = {Stage{"B1", "B2"}.on(0), Stage{"B3", "B4"}.on(1)};
  TrainingModel training(model, options, AdamW{.learning_rate = 0.01});
  std::cout << to_string(training.compile_report()) << '\n';

  DataLoader data(tensor_dataset(two_moons(2048, 1)), options, {.shuffle = true});
  const History history = fit(training, data, {.epochs = 10});
  for (const EpochRecord& epoch : history.epochs)
    std::cout << "epoch " << epoch.epoch << ": loss " << value_of(epoch.values, "loss") << '\n';

  const double trained = accuracy_of(model);
  std::cout << "accuracy on 500 new points: " << trained << '\n';

  model.save_weights("moons.safetensors");
  Model reloaded = network();
  reloaded.load_weights("moons.safetensors");
  std::cout << "accuracy of the reloaded model: " << accuracy_of(reloaded) << '\n';

  InferenceModel service(reloaded, {.batch_size = 1});
  const Tensor scores = service.run({Tensor({1, 2}, {0.0f, 1.0f})}).output("scores");
  std::cout << "scores of the point (0, 1): " << scores.as<float>()[0] << ' '
            << scores.as<float>()[1] << '\n';
  return trained > 0.95 && accuracy_of(reloaded) == trained ? 0 : 1;
}
