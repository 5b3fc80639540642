// A host application: sees the installed headers and library only; trains, serves, and catches what
// the library throws, from its own thread and from the engine's.
#include <cstdio>
#include <penstock/penstock.hpp>
#include <vector>

using namespace penstock;

namespace {

Model classifier() {
  Model model("host");
  const Value x = model.input("x", {4});
  const Value labels = model.labels();
  Value hidden;
  {
    const auto block = model.block("first");
    hidden = model.relu(model.linear("fc1", x, 8));
  }
  const auto block = model.block("second");
  const Value logits = model.linear("fc2", hidden, 2);
  model.output("logits", logits);
  model.loss(model.cross_entropy(logits, labels));
  return model;
}

bool throws(Errc expected, auto action) {
  try {
    action();
  } catch (const Error& error) {
    std::printf("caught: %s\n", error.what());
    return error.code() == expected;
  }
  return false;
}

}  // namespace

int main() {
  const Model model = classifier();
  Options options{.batch_size = 2};
  options.training.gradient_accumulation = 4;
  TrainingModel training(model, options, AdamW{.learning_rate = 0.05});
  InferenceModel serving(model, {.batch_size = 8});

  std::vector<float> values;
  std::vector<std::int64_t> labels;
  for (int i = 0; i < 8; ++i) {
    labels.push_back(i % 2);
    for (int k = 0; k < 4; ++k) values.push_back(i % 2 == 0 ? 1.0f : -1.0f);
  }
  const Tensor x({8, 4}, values), good({8}, labels);
  for (int step = 0; step < 50; ++step) training.step({x, good});
  const auto logits = serving.run({x}).output("logits").as<float>();
  if (!(logits[0] > logits[1] && logits[2] < logits[3])) return 1;

  labels[5] = 7;
  const Tensor bad({8}, labels);
  const bool caught = throws(Errc::shape_mismatch, [&] { training.step({x}); }) &&
                      throws(Errc::stage_failed,
                             [&] {
                               training.step({x, bad});
                             }) &&
                      throws(Errc::closed, [&] {
                        training.step({x, good});
                      });
  return caught ? 0 : 1;
}
