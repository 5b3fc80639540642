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

/// Its readers find no memory as soon as they read when `is_greedy`.
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

void train_a_model() {
  model.emplace("of the plug-in");
  const Value out = model->linear("fc", model->input("x", {4}), 3);
  model->loss(model->identity_loss(out));
  Options options;
  options.runtime.log_level = LogLevel::debug;
  options.runtime.log = [](std::string_view) {
    if (const auto function = std::exchange(inside_a_step, nullptr)) function();
  };
  training.emplace(*model, options, Sgd{});
  samples = {Tensor::zeros(DType::f32, {1, 4})};
  training->step(samples);
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
