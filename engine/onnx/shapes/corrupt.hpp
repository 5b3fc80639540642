// corrupt() refuses what a file in the ONNX format says.
#pragma once

#include <string>

#include "penstock/error.hpp"

namespace penstock {

/// Throws Error corrupt_file with the text `text`.
[[noreturn]] inline void corrupt(const std::string& text) {
  throw Error(Errc::corrupt_file, text);
}

}  // namespace penstock
