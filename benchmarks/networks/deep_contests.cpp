#include "benchmarks/networks/deep_contests.hpp"

#include <string>

#include "benchmarks/networks/settings.hpp"

namespace penstock::benchmarks {
namespace {

constexpr const char* all_blocks = "B1,B2,B3,B4";

/// A DeepNetwork is a network of torchvision, with the operations of one sample in inference and
/// training.
struct DeepNetwork {
  const char* name;
  double inference_megaflops, training_megaflops;
};
constexpr DeepNetwork deep_networks[] = {
    {"resnet18", 74.0, 217.2}, {"resnet50", 166.8, 495.6}, {"mobilenet-v2", 110.0, 326.0}};

Contest deep_training(const DeepNetwork& network, std::int64_t batch, std::int64_t updates) {
  return {.title = std::string(network.name) + " training, " + std::to_string(batch) + " an update",
          .task = {.network = network.name, .rule = Rule::momentum},
          .megaflops = network.training_megaflops,
          .settings = {with_two_threads(training(all_blocks, 1, {batch, 1, updates}))},
          .pytorch = {batch, 1, updates},
          .goal = {.times_pytorch = 2}};
}

/// Returns the training in two replicas, of two stages or one. PyTorch does the same work in twice
/// as many micro-batches.
Contest deep_replicas(const DeepNetwork& network, std::int64_t batch, std::int64_t updates) {
  return {.title = std::string(network.name) + " training, 2 micro-batches of " +
                   std::to_string(batch) + " an update",
          .task = {.network = network.name, .rule = Rule::momentum},
          .megaflops = network.training_megaflops,
          .settings = {training("B1,B2,B3|B4", 2, {batch, 1, updates}),
                       training(all_blocks, 2, {batch, 1, updates})},
          .pytorch = {batch, 2, updates},
          .goal = {.times_pytorch = 2}};
}

Contest deep_inference(const DeepNetwork& network, std::int64_t batch) {
  const std::int64_t samples = batch == 1 ? 16 : 4 * batch;
  return {.title = std::string(network.name) + " inference, batch size " + std::to_string(batch),
          .task = {.network = network.name, .training = false},
          .megaflops = network.inference_megaflops,
          .settings = {with_two_threads(inference(all_blocks, 1, batch, samples)),
                       inference(all_blocks, 2, batch, samples)},
          .pytorch = {batch, 1, samples / batch},
          .goal = {.times_pytorch = batch == 1 ? 2.5 : 1.5}};
}

}  // namespace

std::vector<Contest> deep_contests() {
  std::vector<Contest> all;
  for (const DeepNetwork& network : deep_networks) {
    for (const std::int64_t batch : {8, 32})
      all.push_back(deep_training(network, batch, batch == 8 ? 4 : 2));
    for (const std::int64_t batch : {8, 32}) all.push_back(deep_replicas(network, batch, 2));
    for (const std::int64_t batch : {1, 8, 32}) all.push_back(deep_inference(network, batch));
  }
  return all;
}

}  // namespace penstock::benchmarks
