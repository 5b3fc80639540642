// In a comparison, the engine and oneDNN compute the same pass of a convolution on one core, by
// turns with the core's peak.
#pragma once

#include "benchmarks/ops/convolution.hpp"

namespace penstock::benchmarks {

/// A Comparison has speeds in GFLOP/s, which are medians of several rounds. Operations are counted
/// as is usual, those with the zeros around an image included. A speed is 0 if nothing was
/// measured.
struct Comparison {
  double peak = 0;      ///< `peak` is the core's peak.
  double penstock = 0;  ///< `penstock` is the engine's speed in the layout [N,C,H,W].
  /// `lanes` is the engine's speed in the batch-lane layout. It is measured if networks may compute
  /// the convolution in that layout.
  double lanes = 0;
  double own = 0;    ///< `own` is oneDNN's speed in the layouts that oneDNN chooses.
  double plain = 0;  ///< `plain` is oneDNN's speed in the layout [N,C,H,W].
  double seen = 1;   ///< `seen` is the share of the operations that meet a pixel.
  /// `difference` is the largest difference of an element between two results, divided by the
  /// largest element.
  double difference = 0;
};

/// Measures `rounds` rounds on this thread.
Comparison compare(const Convolution& convolution, Pass pass, int rounds);

}  // namespace penstock::benchmarks
