// This program trains an LSTM to forecast a series, one step ahead, and then lets it forecast many
// steps from its own forecasts. Usage: forecast [UPDATES]
#include <algorithm>
#include <cmath>
#include <iostream>
#include <penstock/penstock.hpp>
#include <string>
#include <vector>

using namespace penstock;

constexpr std::int64_t window = 24, width = 32;

/// Returns a network that forecasts the value behind a window of values, from the last hidden state
/// of an LSTM of two layers.
Model forecaster() {
  Model model("forecaster", 1);
  const Value values = model.input("values", {window, 1}), next = model.input("next", {1});
  const Recurrent lstm = model.lstm("lstm", values, {.hidden_size = width, .layers = 2});
  const Value last_layer = model.flatten(model.slice(lstm.hidden, 1, 1, 2));
  const Value forecast = model.linear("head", last_layer, 1);
  model.output("forecast", forecast);
  model.loss(model.mse_loss(forecast, next));
  return model;
}

/// Returns the value of the series at step `step`: two waves, of which one is four times as long.
float series(std::int64_t step) {
  const double x = 0.5 * static_cast<double>(step);
  return static_cast<float>(0.7 * std::sin(x) + 0.3 * std::sin(x / 4));
}

/// Returns `count` windows of the series, the first at step 0, and the values behind them.
std::vector<Tensor> windows(std::int64_t count) {
  std::vector<float> values, next;
  for (std::int64_t begin = 0; begin < count; ++begin) {
    for (std::int64_t step = begin; step < begin + window; ++step) values.push_back(series(step));
    next.push_back(series(begin + window));
  }
  return {Tensor({count, window, 1}, values), Tensor({count, 1}, next)};
}

/// Returns the largest error of `count` forecasts behind step `begin`, each of which is a part of
/// the next window.
double largest_error(InferenceModel& model, std::int64_t begin, std::int64_t count) {
  std::vector<float> known;
  for (std::int64_t step = begin - window; step < begin; ++step) known.push_back(series(step));
  double largest = 0;
  for (std::int64_t step = begin; step < begin + count; ++step) {
    const std::vector<float> values(known.end() - window, known.end());
    const float forecast =
        predict(model, {Tensor({1, window, 1}, values)})[0].tensor.as<float>()[0];
    known.push_back(forecast);
    largest = std::max(largest, std::abs(double{forecast} - series(step)));
  }
  return largest;
}

int main(int argc, char** argv) {
  Model model = forecaster();
  Options options{.batch_size = 16};
  options.training.gradient_accumulation = 2;
  const int updates = argc > 1 ? std::stoi(argv[1]) : 640;
  Optimizer optimizer = AdamW{.learning_rate = 0.01};
  optimizer.schedule = LearningRateSchedule::cosine(updates, 0.01);
  TrainingModel training(model, options, optimizer);
  DataLoader data(tensor_dataset(windows(1024)), options, {.shuffle = true});
  fit(training, data, {.epochs = 1000, .max_updates = updates});

  // No training has seen the steps from 2000 on.
  InferenceModel inference(model, {.batch_size = 1});
  const double error = largest_error(inference, 2000, 50);
  std::cout << "largest error of 50 forecasts: " << error << '\n';
  return error < 0.3 || argc > 1 ? 0 : 1;
}
