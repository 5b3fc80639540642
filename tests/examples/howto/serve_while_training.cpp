// This program answers requests on one thread while another thread trains. The threads share no
// model: after each epoch, the training thread hands over a copy of its model.
#include <atomic>
#include <iostream>
#include <memory>
#include <mutex>
#include <penstock/penstock.hpp>
#include <thread>
#include <utility>

using namespace penstock;

namespace {

Model network() {
  Model model("digits");
  Value x = model.flatten(model.input("image", {1, 28, 28}));
  const Value labels = model.labels();
  x = model.linear("out", model.relu(model.linear("hidden", x, 32)), 10);
  model.output("scores", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

// Holds the newest copy of a model. A thread that is answering keeps the copy that it began with.
class Service {
 public:
  explicit Service(const Model& model) { publish(model); }

  void publish(const Model& model) {
    auto copy = std::make_shared<Copy>(model.clone());
    std::lock_guard lock(mutex_);
    newest_ = std::move(copy);
  }
  Tensor answer(const Tensor& image) {
    const std::shared_ptr<Copy> copy = newest();
    std::lock_guard lock(copy->mutex);  // A model takes one call at a time.
    return copy->inference.run({image}).output("scores");
  }

 private:
  struct Copy {
    explicit Copy(const Model& model) : inference(model, {.batch_size = 1}) {}
    std::mutex mutex;
    InferenceModel inference;
  };
  std::shared_ptr<Copy> newest() {
    std::lock_guard lock(mutex_);
    return newest_;
  }
  std::mutex mutex_;
  std::shared_ptr<Copy> newest_;
};

}  // namespace

int main() {
  const Model model = network();
  const Options options{.batch_size = 32};
  TrainingModel training(model, options, AdamW{});
  DataLoader data(synthetic_digits(960, 0, {}), options, {.shuffle = true});

  Service service(model);
  std::atomic<bool> done = false;
  std::atomic<int> answers = 0;
  std::thread client([&] {
    const Tensor image = Tensor::zeros(DType::f32, {1, 1, 28, 28});
    do {
      answers += service.answer(image).elements() == 10;
    } while (!done);
  });

  FitCallback publish;
  publish.on_epoch_end = [&](const EpochRecord&) {
    service.publish(model);
    return Next::go_on;
  };
  fit(training, data, {.epochs = 3, .callbacks = {publish}});
  done = true;
  client.join();
  std::cout << answers << " answers while the model was trained\n";
  return answers > 0 ? 0 : 1;
}
