#include "benchmarks/networks/deep_contests.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "benchmarks/networks/settings.hpp"

namespace penstock::benchmarks {
namespace {

constexpr const char* all_blocks = "B1,B2,B3,B4";

/// A DeepNetwork is a network of torchvision, with the operations of one sample in inference and
/// training. The learning rate moves the loss by more than the losses of two libraries may differ
/// by, and is so small that the differences of rounding between them do not grow much from update
/// to update. Gradients of resnet50 are large where a norm has eight values for each channel.
struct DeepNetwork {
  const char* name;
  double inference_megaflops, training_megaflops, learning_rate;
};
constexpr DeepNetwork deep_networks[] = {{"resnet18", 74.0, 217.2, 1e-4},
                                         {"resnet50", 166.8, 495.6, 1e-7},
                                         {"mobilenet-v2", 110.0, 326.0, 1e-4}};

Task task_of(const DeepNetwork& network) {
  return {.network = network.name, .rule = Rule::momentum, .learning_rate = network.learning_rate};
}

Contest deep_training(const DeepNetwork& network, std::int64_t batch, std::int64_t updates) {
  return {.title = std::string(network.name) + " training, " + std::to_string(batch) + " an update",
          .task = task_of(network),
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
          .task = task_of(network),
          .megaflops = network.training_megaflops,
          .settings = {training("B1,B2,B3|B4", 2, {batch, 1, updates}),
                       training(all_blocks, 2, {batch, 1, updates})},
          .pytorch = {batch, 2, updates},
          .goal = {.times_pytorch = 2}};
}

Contest deep_inference(const DeepNetwork& network, std::int64_t batch) {
  const std::int64_t samples = batch == 1 ? 16 : 4 * batch;
  std::vector<Setting> settings;
  // Micro-batches of fewer samples, whose tensors stay in a cache, may be faster.
  for (const std::int64_t cut : std::set<std::int64_t>{batch, std::min<std::int64_t>(batch, 8)}) {
    settings.push_back(with_two_threads(inference(all_blocks, 1, cut, samples)));
    settings.push_back(inference(all_blocks, 2, cut, samples));
  }
  return {.title = std::string(network.name) + " inference, batch size " + std::to_string(batch),
          .task = {.network = network.name, .training = false},
          .megaflops = network.inference_megaflops,
          .settings = settings,
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
