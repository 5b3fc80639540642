// These are the options of TensorShapes::pad(), which convolutions use, too. They are values with
// PyTorch's defaults.
#pragma once

#include <cstdint>

#include "penstock/standard.hpp"

namespace penstock {

/// A PadMode says what is put around a tensor.
enum class PadMode : std::uint8_t {
  constant,   ///< Every element is PadOptions::value, or 0 in a convolution.
  reflect,    ///< The elements next to the border are mirrored, without the border itself.
  replicate,  ///< The element at the border is repeated.
  circular,   ///< The elements from the other end of the axis go on.
};

/// PadOptions are the options of TensorShapes::pad().
struct PadOptions {
  PadMode mode = PadMode::constant;  ///< This says what is put around the tensor.
  double value = 0;                  ///< This is the number that PadMode::constant puts there.
};

}  // namespace penstock
