// This file has the kernel table of one instruction set. The build compiles it once for each
// instruction set.
#include "graph/kernels/kernel_table.hpp"
#include "graph/kernels/lanes/convolve.hpp"
#include "graph/kernels/lanes/planes.hpp"
#include "graph/kernels/lanes/sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {

extern const ActivationKernels activation_kernels;
extern const AlignmentKernels alignment_kernels;
extern const ArithmeticKernels arithmetic_kernels;
extern const ChannelNormKernels channel_norm_kernels;
extern const DepthwiseKernels depthwise_kernels;
extern const ElementaryKernels elementary_kernels;
extern const LossKernels loss_kernels;
extern const NormKernels norm_kernels;
extern const PoolKernels pool_kernels;
extern const ProductKernels product_kernels;
extern const RecurrentKernels recurrent_kernels;
extern const ReductionKernels reduction_kernels;
extern const RowLossKernels row_loss_kernels;
extern const SoftmaxKernels softmax_kernels;
extern const UpdateKernels update_kernels;

extern const KernelTable isa_table;
const KernelTable isa_table{
    .activations = activation_kernels,
    .alignments = alignment_kernels,
    .arithmetic = arithmetic_kernels,
    .channel_norms = channel_norm_kernels,
    .depthwise = depthwise_kernels,
    .elementary = elementary_kernels,
    .losses = loss_kernels,
    .norms = norm_kernels,
    .pools = pool_kernels,
    .products = product_kernels,
    .recurrent = recurrent_kernels,
    .reductions = reduction_kernels,
    .row_losses = row_loss_kernels,
    .softmax = softmax_kernels,
    .updates = update_kernels,
    .lanes = {.to_lanes = to_lanes,
              .from_lanes = from_lanes,
              .channel_sums = channel_sums,
              .convolve = convolve,
              .convolve_input_gradient = convolve_input_gradient,
              .convolve_weight_gradient = convolve_weight_gradient,
              .convolve_depthwise = convolve_depthwise,
              .convolve_depthwise_input_gradient = convolve_depthwise_input_gradient,
              .convolve_depthwise_weight_gradient = convolve_depthwise_weight_gradient,
              .convolve_pool = convolve_pool,
              .convolve_pool_input_gradient = convolve_pool_input_gradient,
              .convolve_pool_weight_gradient = convolve_pool_weight_gradient,
              .pool_maximum = pool_maximum,
              .pool_maximum_gradient = pool_maximum_gradient}};

}  // namespace penstock::graph::PENSTOCK_ISA
