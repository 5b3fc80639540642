// This program says what an IPU gains from several threads. It runs trainings on one IPU, in turns
// with one thread and with several. Usage: sharing_benchmark [ROUNDS [THREADS]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "apps/networks/networks.hpp"
#include "benchmarks/measuring/measure.hpp"
#include "penstock/penstock.hpp"

namespace penstock::benchmarks {
namespace {

/// A Work is a network that is trained on one IPU, with noise as its inputs.
struct Work {
  std::string name;
  Model model;
  int batch, accumulation;
  /// `inputs` are the shapes of the inputs for one sample; the shape of labels is empty.
  std::vector<Shape> inputs;
};

Model convolutions(std::int64_t channels, std::int64_t size) {
  Model model("convolutions");
  const Value image = model.input("image", {channels, size, size});
  const Value target = model.input("target", {channels, size, size});
  Value x = image;
  for (const char* name : {"conv1", "conv2"})
    x = model.conv2d(name, x, {.out_channels = channels, .kernel = 3, .padding = 1});
  model.output("x", x);
  model.loss(model.mse_loss(x, target));
  return model;
}

Model dense(std::int64_t features) {
  Model model("dense");
  Value x = model.input("x", {features});
  const Value target = model.input("target", {features});
  for (const char* name : {"fc1", "fc2", "fc3"}) x = model.relu(model.linear(name, x, features));
  model.output("x", x);
  model.loss(model.mse_loss(x, target));
  return model;
}

std::vector<Work> works() {
  const Shape image{1, 28, 28}, wide{256, 16, 16}, row{1024};
  const auto network = [](const char* name) { return networks::find_network(name).build(0); };
  return {{"mnist-cnn, b=40", network("mnist-cnn"), 40, 10, {image, {}}},
          {"fashion-cnn, b=16", network("fashion-cnn"), 16, 10, {image, {}}},
          {"mlp, b=32", network("mlp"), 32, 4, {image, {}}},
          {"two convolutions 256-256, 16x16, b=16", convolutions(256, 16), 16, 1, {wide, wide}},
          {"three dense 1024-1024, b=32", dense(1024), 32, 4, {row, row}},
          {"three dense 1024-1024, b=8", dense(1024), 8, 4, {row, row}}};
}

Tensor noise(std::int64_t count, const Shape& sample) {
  if (sample.rank() == 0)
    return Tensor({count}, std::vector<std::int64_t>(static_cast<std::size_t>(count)));
  std::vector<std::int64_t> shape{count};
  shape.insert(shape.end(), sample.begin(), sample.end());
  std::vector<float> values(static_cast<std::size_t>(count * sample.elements()));
  std::uint32_t state = 1;
  for (float& value : values)
    value = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-23f - 1.0f;
  return Tensor(Shape(shape), values);
}

/// A Contestant trains one network with a given number of threads per IPU, and keeps the seconds
/// that a step took in each round.
class Contestant {
 public:
  Contestant(const Work& work, int threads) : model_(work.model, options(work, threads), Sgd{}) {
    for (const Shape& shape : work.inputs)
      inputs_.push_back(noise(options(work, threads).samples_per_step(), shape));
  }

  /// Takes steps for a fifth of a second, and keeps the mean time of a step.
  void run() {
    double seconds = 0;
    int steps = 0;
    for (; seconds < 0.2; ++steps) seconds += seconds_of([&] { model_.step(inputs_); });
    seconds_.push_back(seconds / steps);
  }

  double milliseconds() const { return median(seconds_) * 1e3; }
  double best_milliseconds() const { return *std::ranges::min_element(seconds_) * 1e3; }
  void forget() { seconds_.clear(); }

 private:
  static Options options(const Work& work, int threads) {
    Options options{.batch_size = work.batch};
    options.topology.automatic_stages = 1;
    options.topology.threads_per_ipu = threads;
    options.training.gradient_accumulation = work.accumulation;
    return options;
  }

  TrainingModel model_;
  std::vector<Tensor> inputs_;
  std::vector<double> seconds_;
};

void print_work(const Work& work, int rounds, int threads) {
  Contestant one(work, 1), more(work, threads);
  for (int round = 0; round <= rounds; ++round) {
    one.run();
    more.run();
    if (round > 0) continue;  // The first round only warms up.
    one.forget();
    more.forget();
  }
  std::printf("%-40s %10.2f %10.2f %7.2f %10.2f %10.2f %7.2f\n", work.name.c_str(),
              one.milliseconds(), more.milliseconds(), one.milliseconds() / more.milliseconds(),
              one.best_milliseconds(), more.best_milliseconds(),
              one.best_milliseconds() / more.best_milliseconds());
  std::fflush(stdout);
}

}  // namespace
}  // namespace penstock::benchmarks

int main(int argc, char** argv) {
  using namespace penstock::benchmarks;
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 7;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int threads = argc > 2 ? std::max(2, std::atoi(argv[2])) : std::max(2, cores);
  std::printf("milliseconds per weight update on one IPU, %d threads against 1\n", threads);
  std::printf("%-40s %10s %10s %7s %10s %10s %7s\n", "training", "1, median", "more", "times",
              "1, best", "more", "times");
  for (const Work& work : works()) print_work(work, rounds, threads);
}
