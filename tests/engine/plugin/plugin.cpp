// This is a plug-in. Its host does not know of Penstock: the plug-in brings the library along.
#include "tests/engine/plugin/plugin.h"

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/support/without_memory_left.hpp"

namespace {

using namespace penstock;

std::optional<Model> model;
std::optional<TrainingModel> training;
std::vector<Tensor> samples;
std::optional<DataLoader> loader;
float first_bias = 0;  // This is a bias of the untrained model.

bool is_out_of_memory(const std::function<void()>& call) {
  try {
    call();
    return false;
  } catch (const Error& error) {
    return error.code() == Errc::out_of_memory;
  }
}

void (*inside_a_step)() = nullptr;
std::atomic<bool> is_greedy = false;

/// A GreedyDataset is a dataset whose reads find no memory while `is_greedy` is true.
class GreedyDataset : public Dataset {
 public:
  std::int64_t size() const override { return 100; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest&, std::span<std::byte* const>) const override {
    if (is_greedy && testing::take_all_memory()) throw std::bad_alloc();
  }

 private:
  std::vector<Field> fields_ = {{"x", DType::f32, {4}}};
};

}  // namespace

void make_a_model() {
  Model("one of many");
}

namespace {

std::vector<Tensor> samples_of(std::int64_t count, std::int64_t label = 1) {
  return {Tensor::zeros(DType::f32, {count, 4}),
          Tensor({count}, std::vector<std::int64_t>(static_cast<std::size_t>(count), label))};
}

void make_a_training(int batch_size, std::int64_t outputs, std::int64_t ipu_memory_bytes = 0) {
  model.emplace("of the plug-in");
  const Value out = model->linear("fc", model->input("x", {4}), outputs);
  model->loss(model->cross_entropy(out, model->labels()));
  Options options{.batch_size = batch_size};
  options.topology.ipu_memory_bytes = ipu_memory_bytes;
  options.runtime.log_level = LogLevel::debug;
  options.runtime.log = [](std::string_view) {
    if (const auto function = std::exchange(inside_a_step, nullptr)) function();
  };
  training.emplace(*model, options, Sgd{});
  first_bias = model->weight("fc.bias").as<float>()[0];
}

}  // namespace

void train_a_model() {
  make_a_training(1, 3);
  samples = samples_of(1);
  training->step(samples);
}

void train_a_model_until_it_fails(int by_short_plan) {
  // With so many outputs, the weights are larger than the memory that is left.
  constexpr std::int64_t outputs = 1 << 15;
  make_a_training(2, outputs);
  make_a_training(2, outputs, training->stage_reports().at(0).peak_bytes);
  training->step(samples_of(2));
  const std::int64_t count = by_short_plan ? 1 : 2;
  training->step(samples_of(count));
  try {
    training->step(samples_of(count, -1));
  } catch (const Error&) {
    training->take_trace();  // This waits until the threads of all plans have ended.
  }
}

void end_the_training() {
  training.reset();
}

int has_the_trained_weights() {
  try {
    return model->weight("fc.bias").as<float>()[0] != first_bias;
  } catch (const Error&) {
    return 0;
  }
}

int take_memory() {
  return testing::take_all_memory();
}

void call_inside_a_step(void (*function)()) {
  inside_a_step = function;
  training->step(samples);
}

void read_a_batch() {
  loader.emplace(std::make_shared<GreedyDataset>(), 1);
  loader->next();
}

int is_batch_refused_whose_reader_takes_memory() {
  if (!loader) loader.emplace(std::make_shared<GreedyDataset>(), 1);
  is_greedy = true;
  // Batches that were read before are given first.
  return is_out_of_memory([] {
    for (int batch = 0; batch < 100; ++batch) loader->next();
  });
}

int is_refused_for_want_of_memory() {
  return is_out_of_memory([] { Model("another one"); }) &&
         is_out_of_memory([] { model->weight("fc.weight"); }) &&
         is_out_of_memory([] { training->step(samples); });
}
