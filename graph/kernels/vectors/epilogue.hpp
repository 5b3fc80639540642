// An Epilogue says what is done with the sums of a convolution or of a matrix product before they
// are written. The functions are static, so that sources compiled for different instruction sets
// share none of them.
#pragma once

#include <cstdint>

namespace penstock::graph {

struct Epilogue {
  /// If these pointers are not null, a sum x of plane p of the target becomes
  /// (x - mean[p])·factor[p] + shift[p], which is rounded as multiply_add() rounds it.
  const float* mean = nullptr;
  const float* factor = nullptr;
  const float* shift = nullptr;
  /// If this pointer is not null, an element of this tensor, which has the layout of the target, is
  /// then added to each sum.
  const float* addend = nullptr;
  /// A sum below `low` then becomes `low`, and a sum above `high` becomes `high`. A NaN stays.
  float low = -__builtin_inff(), high = __builtin_inff();
};

/// Returns an Epilogue that replaces sums below zero by zero if `relu` is true, and that leaves all
/// sums as they are otherwise.
static constexpr Epilogue relu_if(bool relu) {
  Epilogue epilogue;
  if (relu) epilogue.low = 0;
  return epilogue;
}

/// Returns the Epilogue of the planes from `plane` on.
static constexpr Epilogue from_plane(Epilogue epilogue, std::int64_t plane) {
  if (!epilogue.mean) return epilogue;
  epilogue.mean += plane;
  epilogue.factor += plane;
  epilogue.shift += plane;
  return epilogue;
}

/// Returns what is done with sums before the addend, if there is one, is added.
static constexpr Epilogue before_addend(const Epilogue& epilogue) {
  if (!epilogue.addend) return epilogue;
  return {.mean = epilogue.mean, .factor = epilogue.factor, .shift = epilogue.shift};
}

}  // namespace penstock::graph
