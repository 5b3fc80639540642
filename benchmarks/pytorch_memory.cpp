// This program measures the peak memory of a process in which PyTorch does the trainer's default
// work: it holds a data set of 60,000 images with a byte per pixel, and trains mnist-cnn on as many
// images. It prints the number of bytes, or 0 if PyTorch is not installed.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "apps/trainer/peak_memory.hpp"
#include "benchmarks/networks/contests.hpp"
#include "benchmarks/pytorch/pytorch.hpp"

int main() {
  using namespace penstock::benchmarks;
  std::int64_t peak = 0;
  if (pytorch() != nullptr) {
    constexpr std::int64_t images = 60'000;
    const std::vector<std::uint8_t> data(images * 784, 1);
    const Task& task = mnist_training().task;
    const Cut& cut = mnist_training().pytorch;
    const auto runner =
        pytorch()->runner(task, cut, initial_weights(task.network), noise(task, cut.samples()));
    for (std::int64_t done = 0; done < images; done += cut.samples()) runner->run();
    peak = data.back() == 1 ? trainer::peak_resident_bytes() : 0;
  }
  std::printf("%lld\n", static_cast<long long>(peak));
}
