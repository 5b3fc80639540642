// These tests check the networks that torchvision has, too: their first weights, and the images
// that they take.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "apps/networks/networks.hpp"

namespace penstock::networks {
namespace {

constexpr const char* torchvision[] = {"mobilenet-v2", "resnet18", "resnet50"};

/// Returns the root of the mean square of the elements.
double root_mean_square(const Tensor& tensor) {
  double squares = 0;
  for (const float element : tensor.as<float>()) squares += double{element} * double{element};
  return std::sqrt(squares / static_cast<double>(tensor.elements()));
}

// F9 of docs/reference.md: the first weights have the distributions of torchvision.
TEST(TorchvisionNetworks, DrawTheWeightsOfConvolutionsByTheFanOut) {
  for (const char* name : torchvision) {
    const Model model = find_network(name).build(3);
    int convolutions = 0;
    for (const ParameterInfo& parameter : model.parameters()) {
      if (parameter.shape.rank() != 4) continue;
      ++convolutions;
      const Shape& shape = parameter.shape;
      const double expected = std::sqrt(2 / static_cast<double>(shape[0] * shape[2] * shape[3]));
      const double tolerance = 5 / std::sqrt(2 * static_cast<double>(shape.elements()));
      EXPECT_NEAR(root_mean_square(model.weight(parameter.name)) / expected, 1, tolerance)
          << name << ": " << parameter.name;
    }
    EXPECT_GE(convolutions, 20) << name;
  }
}

TEST(TorchvisionNetworks, BeginWithNormsThatChangeNothing) {
  const Model model = find_network("resnet18").build(3);
  for (const auto& [name, value] : {std::pair{"layer4.1.bn2.weight", 1.0f},
                                    {"layer4.1.bn2.bias", 0.0f},
                                    {"layer4.1.bn2.running_mean", 0.0f},
                                    {"layer4.1.bn2.running_var", 1.0f}})
    for (const float element : model.weight(name).as<float>()) ASSERT_EQ(element, value) << name;
}

// PyTorch draws the weight and the bias of a linear layer from ±1/sqrt(K) evenly.
TEST(TorchvisionNetworks, DrawTheirClassifiersAsTorchvisionDoes) {
  const Model resnet = find_network("resnet50").build(3);
  EXPECT_NEAR(root_mean_square(resnet.weight("fc.weight")) * std::sqrt(3.0 * 2048), 1, 0.02);
  EXPECT_GT(root_mean_square(resnet.weight("fc.bias")), 0);
  const Model mobile = find_network("mobilenet-v2").build(3);
  EXPECT_NEAR(root_mean_square(mobile.weight("classifier.1.weight")), 0.01, 0.0003);
  EXPECT_EQ(root_mean_square(mobile.weight("classifier.1.bias")), 0);
}

TEST(TorchvisionNetworks, TakeImagesOfAnyShapeInAnyNumberOfClasses) {
  for (const ImageKind& kind :
       {ImageKind{2, 1, 1, 1}, ImageKind{.height = 65, .width = 33, .classes = 47}})
    for (const char* name : {"resnet18", "mobilenet-v2"}) {
      const Model model = find_network(name).build(kind, 0);
      const Shape weight = model.parameters().front().shape;
      EXPECT_EQ(weight[1], kind.channels) << name;
      const std::string last = std::string(name).starts_with("resnet") ? "fc" : "classifier.1";
      EXPECT_EQ(model.weight(last + ".bias").shape(), Shape{kind.classes}) << name;
    }
}

}  // namespace
}  // namespace penstock::networks
