// A Scaling is the model that tests of fit(), evaluate() and predict() train: y = w·x, with the
// mean of y as the loss, so that the gradient is the mean of x. The model is so small that results
// can be computed by hand. Its data are numbers.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "penstock/data_loader.hpp"
#include "penstock/model.hpp"
#include "penstock/options.hpp"

namespace penstock::testing {

// This is a number of samples: G is 2, and a micro-batch has 2 samples.
inline constexpr std::int64_t per_update = 4;
inline constexpr std::int64_t per_step = 8;  // This is a number of samples: D is 2.

struct Scaling {
  Model model{"scaling"};
  Scaling() {
    const Value x = model.input("x", {1});
    const Value y = model.linear("fc", x, 1, false);
    model.output("y", y);
    model.loss(model.identity_loss(y, LossReduction::mean));
    model.set_weight("fc.weight", Tensor({1, 1}, {1}));
  }
  float weight() const { return model.weight("fc.weight").item(); }
};

inline Options options() {
  Options options{.batch_size = 2, .device_iterations = 2};
  options.training.gradient_accumulation = 2;
  options.output.mode = OutputMode::all;
  return options;
}

/// Returns a loader of `samples` samples. Sample i is the number i, and has the label i.
inline DataLoader numbers(std::int64_t samples, std::int64_t per_batch = per_step,
                          bool drop_last = true) {
  std::vector<float> x(static_cast<std::size_t>(samples));
  std::iota(x.begin(), x.end(), 0.0f);
  std::vector<std::int64_t> labels(x.begin(), x.end());
  const auto dataset =
      tensor_dataset({Tensor({samples, 1}, std::span<const float>(x)),
                      Tensor(Shape{samples}, std::span<const std::int64_t>(labels))});
  return {dataset, per_batch, {.drop_last = drop_last, .mode = LoaderMode::sync, .workers = 0}};
}

}  // namespace penstock::testing
