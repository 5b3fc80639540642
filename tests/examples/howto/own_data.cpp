// This program has a dataset of its own. A loader asks the dataset for samples by their numbers, on
// threads of the loader.
#include <cmath>
#include <cstring>
#include <iostream>
#include <memory>
#include <penstock/penstock.hpp>
#include <vector>

using namespace penstock;

namespace {

// Sample i is a number x and sin(3x). A dataset of files would read sample i from a file in read().
class Sines : public Dataset {
 public:
  std::int64_t size() const override { return 4096; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    const float x = static_cast<float>(request.index) / 2048.0f - 1.0f;
    const float y = std::sin(3.0f * x);
    std::memcpy(destinations[0], &x, sizeof x);
    std::memcpy(destinations[1], &y, sizeof y);
  }

 private:
  std::vector<Field> fields_ = {{"x", DType::f32, {1}}, {"y", DType::f32, {1}}};
};

}  // namespace

int main() {
  Model model("sines");
  const Value x = model.input("x", {1});
  const Value target = model.input("y", {1});
  const Value y = model.linear("out", model.tanh(model.linear("hidden", x, 32)), 1);
  model.loss(model.mse_loss(y, target));

  const Options options{.batch_size = 32};
  TrainingModel training(model, options, AdamW{.learning_rate = 0.01});
  DataLoader data(std::make_shared<Sines>(), options, {.shuffle = true, .workers = 2});
  const History history = fit(training, data, {.epochs = 5});
  const double loss = value_of(history.epochs.back().values, "loss");
  std::cout << "loss " << loss << ", " << history.waited_seconds << " s waited for data\n";
  return loss < 0.01 ? 0 : 1;
}
