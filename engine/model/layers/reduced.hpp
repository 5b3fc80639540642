// The methods of Model for losses share the attribute by which a loss becomes a number.
#pragma once

#include <string>

#include "graph/ir/attributes.hpp"
#include "penstock/loss.hpp"

namespace penstock {

/// Returns the attribute `reduction` of a loss.
inline graph::Attributes reduced(LossReduction reduction) {
  const char* name = reduction == LossReduction::mean  ? "mean"
                     : reduction == LossReduction::sum ? "sum"
                                                       : "none";
  return {{"reduction", std::string(name)}};
}

}  // namespace penstock
