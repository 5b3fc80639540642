// A NamedTensor is a tensor with a name. It is plain data.
#pragma once

#include <string>

#include "penstock/tensor.hpp"

namespace penstock {

/// A NamedTensor is a tensor with a name: an output, an anchor, a part of the optimizer's state, a
/// prediction or a tensor of a file.
struct NamedTensor {
  std::string name;  ///< `name` is the name of the tensor.
  Tensor tensor;     ///< `tensor` is the tensor itself.
};

}  // namespace penstock
