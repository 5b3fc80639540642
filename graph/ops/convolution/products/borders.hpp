// Borders: the border of a convolution's input gradient, which consists of the pixels some of whose
// taps lie outside of the output's gradient. Packed products multiply the weights of those taps by
// zeros, which changes no sum of finite numbers, but gives NaN where such a weight is an infinity
// or a NaN.
#pragma once

#include <cstdint>

#include "graph/kernels/products/bands.hpp"
#include "graph/kernels/products/windows.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph {

class Borders {
 public:
  explicit Borders(const Windows& windows);

  /// Sums again, without those zeros, what is NaN on the border of `target`. Results all of whose
  /// weights are finite may be left out: no NaN of theirs comes of a zero. `target` holds the sums
  /// that the products of the windows made of `source` and `weight` for the units `part`. The sums
  /// of other units are neither read nor written.
  void sum_again(Part part, const float* source, const float* weight, float* target) const;

 private:
  Windows windows_;
  Part inner_rows_, inner_columns_;  // the places all of whose taps lie within the source
  Band first_band_;  // small convolutions have no other, and it takes divisions to find one
  std::int64_t bands_;
  bool has_few_weights_;      // reading a result's weights is quicker than reading its border
  bool meets_zeros_ = false;  // there is a border, and the products multiply zeros there
};

}  // namespace penstock::graph
