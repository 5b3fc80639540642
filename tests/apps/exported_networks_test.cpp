// These tests write the trainer's networks as ONNX files, and read them again.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "apps/networks/gpt.hpp"
#include "apps/networks/networks.hpp"
#include "penstock/penstock.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::networks {
namespace {

Tensor sines(const Shape& shape) {
  std::vector<float> elements;
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    elements.push_back(std::sin(0.7f * static_cast<float>(i)));
  return {shape, std::span<const float>(elements)};
}

/// Expects that a network computes the same for `inputs` after it was written and read, up to what
/// the rounding of formulas that are written differently makes.
void expect_same_results(const Model& model, const std::vector<Tensor>& inputs) {
  const testing::TemporaryDirectory directory;
  const std::string path = (directory / "network.onnx").string();
  model.save_onnx(path);
  const Model read = Model::from_onnx(path);
  const Options options{.batch_size = 2};
  const Tensor expected = InferenceModel(model, options).run(inputs).output("logits");
  const Tensor got = InferenceModel(read, options).run({inputs[0]}).output("logits");
  ASSERT_EQ(got.shape(), expected.shape());
  const auto numbers = got.as<float>(), wanted = expected.as<float>();
  for (std::size_t i = 0; i < numbers.size(); ++i)
    ASSERT_NEAR(numbers[i], wanted[i], 1e-5 * (1 + std::abs(wanted[i]))) << i;
  for (const ParameterInfo& parameter : model.parameters())
    EXPECT_EQ(read.weight(parameter.name).shape(), parameter.shape) << parameter.name;
}

TEST(ExportedNetworks, ComputeTheSameWhenTheyAreReadAgain) {
  for (const Network* network : all_networks()) {
    SCOPED_TRACE(network->name);
    const Shape image = network->images.shape();
    expect_same_results(network->build(3), {sines({2, image[0], image[1], image[2]})});
  }
}

TEST(ExportedNetworks, ComputeTheSameIfTheyAreOfTokens) {
  const Model model = gpt({.layers = 2, .heads = 2, .width = 16, .context = 8, .dropout = 0.1}, 3);
  const std::vector<std::int64_t> numbers{1, 5, 64, 0, 3, 2, 9, 33, 7, 7, 8, 60, 12, 4, 1, 0};
  const Tensor tokens({2, 8}, std::span<const std::int64_t>(numbers));
  expect_same_results(model, {tokens, tokens});
}

}  // namespace
}  // namespace penstock::networks
