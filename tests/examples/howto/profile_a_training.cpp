// This program records what the IPUs do in a training, prints where the time went, and writes a
// report.
#include <iostream>
#include <penstock/penstock.hpp>

using namespace penstock;

namespace {

Model network() {
  Model model("digits");
  Value x = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = model.max_pool2d(model.relu(model.conv2d("conv", x, {.out_channels = 8, .kernel = 5})));
  }
  const auto block = model.block("B2");
  model.loss(model.cross_entropy(model.linear("fc", model.flatten(x), 10), labels));
  return model;
}

}  // namespace

int main() {
  Options options{.batch_size = 16};
  options.training.gradient_accumulation = 8;
  options.runtime.trace = true;
  TrainingModel training(network(), options, AdamW{});
  DataLoader data(synthetic_digits(1280, 0, {}), options);
  fit(training, data);

  const Profile profile = training.profile();
  std::cout << summary_of(profile);
  write_profile("profile/training", profile);
  return profile.calls == 10 ? 0 : 1;
}
