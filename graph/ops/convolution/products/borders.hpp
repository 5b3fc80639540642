// A Borders is the border of the input gradient of a convolution. The border consists of the pixels
// some of whose taps lie outside of the gradient of the output. Packed products multiply the
// weights of those taps by zeros, which changes no sum of finite numbers, but gives NaN where such
// a weight is an infinity or a NaN.
#pragma once

#include <cstdint>

#include "graph/kernels/products/bands.hpp"
#include "graph/kernels/products/windows.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph {

class Borders {
 public:
  explicit Borders(const Windows& windows);

  /// Computes again those sums on the border of `target` that are NaN, this time without the zeros
  /// outside of the source. Results whose weights are all finite may be left out, because a zero
  /// never makes a NaN with such weights. `target` has the sums that the products of the windows
  /// made of `source` and `weight` for the units `part`. The sums of other units are neither read
  /// nor written.
  void sum_again(Part part, const float* source, const float* weight, float* target) const;

 private:
  Windows windows_;
  // These are the rows and columns of the places whose taps all lie within the source.
  Part inner_rows_, inner_columns_;
  // The first band is kept because finding a band takes divisions, and small convolutions have no
  // other band.
  Band first_band_;
  std::int64_t bands_;
  // `has_few_weights_` says whether a result's weights are read in less time than its sums.
  bool has_few_weights_;
  // `meets_zeros_` says whether there is a border in which the products multiply zeros.
  bool meets_zeros_ = false;
};

}  // namespace penstock::graph
