// This program puts the layers of one network on four IPUs (model parallelism). Each sample passes
// from IPU to IPU: while one sample is on the second IPU, the next sample is on the first.
#include <cmath>
#include <iostream>
#include <penstock/penstock.hpp>

using namespace penstock;

int main() {
  Model model("four blocks");
  Value x = model.input("x", {5});
  {
    const auto block = model.block("B1", 0);  // The second argument is the number of the IPU.
    x = model.relu(model.linear("layer1", x, 10));
  }
  {
    const auto block = model.block("B2", 1);
    x = model.relu(model.linear("layer2", x, 5));
  }
  {
    const auto block = model.block("B3", 2);
    x = model.relu(model.linear("layer3", x, 5));
    x = model.relu(model.linear("layer4", x, 5));
  }
  {
    const auto block = model.block("B4", 3);
    model.output("classes", model.softmax(x));
  }

  InferenceModel inference(model, {.batch_size = 2, .device_iterations = 8});
  std::vector<float> numbers(16 * 5);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(i));
  const Tensor classes = inference.run({Tensor({16, 5}, numbers)}).output("classes");
  // A14 of docs/reference.md: each block is on an IPU of its own, and every IPU sees every
  // micro-batch.
  bool on_its_ipu = true;
  int next = 0;
  for (const StageReport& stage : inference.stage_reports()) {
    std::cout << "IPU " << stage.ipu << " saw " << stage.forward_runs << " micro-batches\n";
    on_its_ipu = on_its_ipu && stage.ipu == next++ && stage.forward_runs == 8;
  }

  const float* first = classes.as<float>().data();
  const float sum = first[0] + first[1] + first[2] + first[3] + first[4];
  std::cout << "the first sample's classes add up to " << sum << '\n';
  return next == 4 && on_its_ipu && std::abs(sum - 1) < 1e-6f ? 0 : 1;
}
