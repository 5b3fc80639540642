#include "benchmarks/runners/lstm_network.hpp"

namespace penstock::benchmarks {

Model lstm_network() {
  constexpr std::int64_t steps = 64, width = 128, classes = 10;
  Model model("lstm");
  const Value x = model.input("x", {steps, width}), labels = model.labels();
  const Recurrent lstm = model.lstm("lstm", x, {.hidden_size = width, .layers = 2});
  const Value last = model.flatten(model.slice(lstm.hidden, 1, 1, 2));
  const Value logits = model.linear("head", last, classes);
  model.output("logits", logits);
  model.loss(model.cross_entropy(logits, labels));
  return model;
}

}  // namespace penstock::benchmarks
