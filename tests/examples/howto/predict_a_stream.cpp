// This program predicts for readings that come one after the other without an end, as from a
// sensor, and handles the predictions of each batch as soon as they are there.
#include <cmath>
#include <cstring>
#include <iostream>
#include <memory>
#include <penstock/penstock.hpp>
#include <vector>

using namespace penstock;

namespace {

// A stream of readings would wait for the next one in next(), and for `stop`, too.
class Readings : public SampleStream {
 public:
  bool next(std::span<std::byte* const> destinations, const std::stop_token&) override {
    const float reading = std::sin(static_cast<float>(number_++) / 10.0f);
    std::memcpy(destinations[0], &reading, sizeof reading);
    return true;
  }

 private:
  int number_ = 0;
};

class Sensor : public IterableDataset {
 public:
  const std::vector<Field>& fields() const override { return fields_; }
  std::unique_ptr<SampleStream> begin(const WorkerInfo&) const override {
    return std::make_unique<Readings>();
  }

 private:
  std::vector<Field> fields_ = {{"reading", DType::f32, {}}};
};

Model network() {
  Model model("alarm");
  const Value reading = model.input("reading", {});
  model.output("alarm", model.sigmoid((reading - 0.9) * 100));
  return model;
}

}  // namespace

int main() {
  InferenceModel model(network(), {.batch_size = 8});
  DataLoader data(std::make_shared<Sensor>(), 8, {.drop_last = false, .workers = 1});
  std::int64_t first = 0;
  const auto on_outputs = [&](const std::vector<NamedTensor>& outputs) {
    for (const float alarm : outputs[0].tensor.as<float>()) {
      if (alarm > 0.5f) return Next::stop;
      ++first;
    }
    return Next::go_on;
  };
  const std::int64_t samples = predict_batches(model, data, on_outputs);
  std::cout << "reading " << first << " of " << samples << " raises the first alarm\n";
  return first == 12 && samples == 16 ? 0 : 1;
}
