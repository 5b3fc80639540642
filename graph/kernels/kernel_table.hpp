// A KernelTable has the numeric kernels as plain functions; there is one table per instruction set.
// Each kernel writes or adds to every element of its result, allocates nothing and runs on the
// caller's thread. The headers of the kernels have declarations only, because sources compiled for
// different instruction sets must not share a function that the linker would merge.
#pragma once

#include "graph/kernels/depthwise/depthwise.hpp"
#include "graph/kernels/elementwise/activations.hpp"
#include "graph/kernels/elementwise/arithmetic.hpp"
#include "graph/kernels/elementwise/elementary.hpp"
#include "graph/kernels/isa.hpp"
#include "graph/kernels/lanes/lane_kernels.hpp"
#include "graph/kernels/losses/alignments.hpp"
#include "graph/kernels/losses/losses.hpp"
#include "graph/kernels/losses/row_losses.hpp"
#include "graph/kernels/pools/pools.hpp"
#include "graph/kernels/products/product_kernels.hpp"
#include "graph/kernels/recurrent/recurrent.hpp"
#include "graph/kernels/reductions/channel_norms.hpp"
#include "graph/kernels/reductions/norms.hpp"
#include "graph/kernels/reductions/reductions.hpp"
#include "graph/kernels/reductions/softmax.hpp"
#include "graph/kernels/updates/updates.hpp"

namespace penstock::graph {

struct KernelTable {
  const ActivationKernels& activations;
  const AlignmentKernels& alignments;
  const ArithmeticKernels& arithmetic;
  const ChannelNormKernels& channel_norms;
  const DepthwiseKernels& depthwise;
  const ElementaryKernels& elementary;
  const LossKernels& losses;
  const NormKernels& norms;
  const PoolKernels& pools;
  const ProductKernels& products;
  const RecurrentKernels& recurrent;
  const ReductionKernels& reductions;
  const RowLossKernels& row_losses;
  const SoftmaxKernels& softmax;
  const UpdateKernels& updates;
  LaneKernels lanes;
};

/// Returns the kernels for `isa`, which the machine must have.
const KernelTable& kernel_table(Isa isa);
/// Returns the kernels that this process uses.
/// @throws Error invalid_argument as isa() does.
const KernelTable& kernel_table();

}  // namespace penstock::graph
