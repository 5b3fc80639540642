// These tests compare the networks that torchvision has, too, with torchvision's in double
// precision, and train them in two stages. tests/tools/torchvision_networks.py makes the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/networks/mobilenet_v2.hpp"
#include "apps/networks/networks.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/reference_file.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t updates = 2;

const ReferenceFile& reference() {
  static const ReferenceFile file = read_reference(data_path("torchvision.safetensors"));
  return file;
}

int whole(const char* key) {
  return std::stoi(reference().metadata.at(key));
}

/// Returns the hash FNV-1a.
std::uint32_t hash(const std::string& text) {
  std::uint32_t key = 2166136261;
  for (const char letter : text) key = (key ^ static_cast<std::uint8_t>(letter)) * 16777619;
  return key;
}

/// Returns the number `i`, from -1 to 1, of those that the reference has for the name with the hash
/// `key`.
double number(std::uint32_t key, std::size_t i) {
  std::uint32_t x = static_cast<std::uint32_t>(i) * 2654435761u + key;
  x = (x ^ (x >> 16)) * 0x85ebca6b;
  x = (x ^ (x >> 13)) * 0xc2b2ae35;
  return (x ^ (x >> 16)) / 0x1p31 - 1;
}

/// Returns the first value of a parameter or buffer in the reference.
Tensor reference_weight(const std::string& name, const Shape& shape) {
  const double bound =
      shape.rank() > 1 ? std::sqrt(6 / static_cast<double>(shape.elements() / shape[0])) : 0;
  const std::uint32_t key = hash(name);
  std::vector<float> elements(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const double x = number(key, i);
    const double element = shape.rank() > 1                  ? x * bound
                           : name.ends_with(".weight")       ? (x + 4) / 16
                           : name.ends_with(".running_mean") ? x / 4
                                                             : (x + 4) / 4;
    elements[i] = static_cast<float>(element);
  }
  return {shape, std::span<const float>(elements)};
}

/// Returns images with labels: `repetitions` times the same `count` ones.
std::vector<Tensor> samples(const networks::ImageKind& kind, std::int64_t count,
                            std::int64_t repetitions) {
  const auto size = static_cast<std::size_t>(count * kind.shape().elements());
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;
  for (std::int64_t repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t i = 0; i < size; ++i)
      pixels.push_back(static_cast<float>(number(hash("image"), i)));
    for (std::int64_t i = 0; i < count; ++i) labels.push_back(i % kind.classes);
  }
  const std::int64_t all = count * repetitions;
  return {Tensor({all, kind.channels, kind.height, kind.width}, pixels), Tensor({all}, labels)};
}

/// Returns the network without dropout.
networks::Network undropped(const networks::Network& network) {
  networks::Network changed = network;
  if (network.name == networks::mobilenet_v2.name)
    changed.layers = [](Model& model, Value x, std::int64_t classes) {
      return networks::mobilenet_v2_layers(model, x, classes, 0);
    };
  return changed;
}

class Torchvision : public ::testing::TestWithParam<const char*> {
 protected:
  static const networks::Network& network() { return networks::find_network(GetParam()); }
};

// F9 of docs/reference.md: each network has torchvision's parameters and computes what it computes.
TEST_P(Torchvision, HasTheSameParametersInTheSameOrder) {
  std::string text;
  for (const ParameterInfo& parameter : network().build(0).parameters())
    text += parameter.name + ' ' + to_string(parameter.shape) + '\n';
  EXPECT_EQ(text, reference().metadata.at(GetParam()));
}

TEST_P(Torchvision, HasTheSameLossesAndTheSameLogits) {
  const int size = whole("size"), batch = whole("batch");
  const networks::ImageKind kind{.channels = 3, .height = size, .width = size};
  Model model = undropped(network()).build(kind, 0);
  for (const ParameterInfo& parameter : model.parameters())
    model.set_weight(parameter.name, reference_weight(parameter.name, parameter.shape));
  const Options options{.batch_size = batch};
  const Sgd sgd{.learning_rate = std::stod(reference().metadata.at("learning_rate")),
                .momentum = std::stod(reference().metadata.at("momentum"))};

  const TrainingRun run = train(model, options, sgd, samples(kind, batch, updates), updates);
  InferenceModel inference(model, options);
  const Tensor logits = inference.run({samples(kind, batch, 1).front()}).output("logits");

  const std::string name = GetParam();
  const auto losses = reference().tensors.at(name + ".losses").as<float>();
  ASSERT_EQ(run.losses.size(), losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i)
    EXPECT_NEAR(run.losses[i], losses[i], 1e-5 * losses[i]) << "update " << i;
  EXPECT_LE(relative_difference(logits, reference().tensors.at(name + ".logits")), 2e-5);
}

std::string name_of(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Networks, Torchvision,
                         ::testing::Values("resnet18", "resnet50", "mobilenet-v2"), name_of);

constexpr networks::ImageKind small_images{.channels = 3, .height = 12, .width = 12};

Model split_network(const char* name, const char* layer) {
  Model model = networks::find_network(name).build(small_images, 1);
  model.remove_block_marks();
  model.begin_block_at(layer, layer, 1);
  return model;
}

/// Trains a copy of `model` in two replicas.
TrainingRun replicated_run(const Model& model, Strategy strategy) {
  Options options{.batch_size = 2};
  options.training.gradient_accumulation = 3;
  options.topology.replication_factor = 2;
  options.topology.strategy = strategy;
  return train(model.clone(), options, Sgd{.learning_rate = 0.01, .momentum = 0.9},
               samples(small_images, 2 * 3 * 2, updates), updates);
}

// A15 of docs/reference.md: a ResNet that is split at layer4 trains in two replicas.
TEST(SplitNetworks, A15_HaveTheBitsOfTheShardedRun) {
  struct Split {
    const char *network, *layer;
  };
  for (const auto& [network, layer] :
       {Split{"resnet50", "layer4"}, Split{"mobilenet-v2", "features.7"}}) {
    const Model model = split_network(network, layer);
    const TrainingRun pipelined = replicated_run(model, Strategy::pipelined);
    EXPECT_EQ(first_difference(pipelined, replicated_run(model, Strategy::sharded)), "") << network;
    ASSERT_EQ(pipelined.stages.size(), 4u) << network;
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(pipelined.stages[i].ipu, static_cast<int>(i)) << network;
      EXPECT_EQ(pipelined.stages[i].backward_runs, 3u * updates) << network;
    }
  }
}

}  // namespace
}  // namespace penstock::testing
