// conv_norm() adds the pair of layers that the networks of torchvision consist of.
#pragma once

#include <string>

#include "penstock/convolution_options.hpp"
#include "penstock/model.hpp"

namespace penstock::networks {

/// Adds a convolution without a bias, called `convolution`, and the batch norm `norm` behind it. As
/// in torchvision, the weight of the convolution is drawn from the normal distribution with the
/// variance 2/(fan out).
Value conv_norm(Model& model, const std::string& convolution, const std::string& norm, Value x,
                Conv2dOptions options);

}  // namespace penstock::networks
