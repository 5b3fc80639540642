// ChannelNormKernels are the parts of batch norm that work on the channels of a tensor. They are a
// part of KernelTable. This header has declarations only, because sources of every instruction set
// include it.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// ChannelRuns are neighbouring channels of a tensor [N,C,...]. Each channel has a run of `length`
/// neighbouring elements in each sample, and the runs of one sample lie side by side.
struct ChannelRuns {
  std::int64_t samples;
  std::int64_t sample;  ///< This is the number of elements from one sample to the next.
  std::int64_t channels, length;
};

/// Runs below this length are computed column by column: a column has the elements of all samples
/// at one place.
inline constexpr std::int64_t long_run = 256;
/// The workspace has this many floats for each column.
inline constexpr std::int64_t column_floats = 5;

/// A NormClamp says how a norm clamps its result: not at all, or as relu or hardtanh do.
struct NormClamp {
  enum class Kind : std::uint8_t { none, relu, hardtanh };

  Kind kind = Kind::none;
  float low = 0, high = 0;  ///< These are the bounds of hardtanh.
};

/// A ClampedGradient is the gradient `dy` of y = clamp((x - mean)·factor + shift). If `clamp` does
/// something, `factor` and `shift` have a number for each channel.
struct ClampedGradient {
  const float* dy;
  NormClamp clamp = {};
  const float *factor = nullptr, *shift = nullptr;
};

/// Each function with `runs` reads or writes their elements, the first of which is at the pointer.
/// The other arguments have a number for each channel. `workspace` has `column_floats` floats for
/// each column, and is not used if the runs are long. Sums have the same bits under every
/// instruction set. A result may be written over an operand.
struct ChannelNormKernels {
  /// Computes the sums of x.
  void (*sums)(const ChannelRuns& runs, const float* x, double* sums, float* workspace);
  /// Computes the sums of (x - mean)².
  void (*squared_deviations)(const ChannelRuns& runs, const float* mean, const float* x,
                             double* sums, float* workspace);
  /// Computes 1/sqrt(variance + eps) for `channels` channels.
  void (*inverse_stds)(std::int64_t channels, double eps, const float* variance, float* inverse);
  /// Computes y = clamp((x - mean)·factor + shift + addend). `addend` may be null, and nothing is
  /// added then.
  void (*normalise)(const ChannelRuns& runs, const float* mean, const float* factor,
                    const float* shift, const float* x, const float* addend, NormClamp clamp,
                    float* y, float* workspace);
  /// Computes the sums of d, and those of d·(x - mean), where d is the gradient of what was
  /// clamped.
  void (*gradient_sums)(const ChannelRuns& runs, const float* mean, const ClampedGradient& gradient,
                        const float* x, double* d_sums, double* product_sums, float* workspace);
  /// Computes dx = d·factor - ((x - mean)·slope + offset), where d is the gradient of what was
  /// clamped.
  void (*input_gradient)(const ChannelRuns& runs, const float* mean, const float* factor,
                         const float* slope, const float* offset, const ClampedGradient& gradient,
                         const float* x, float* dx, float* workspace);
};

}  // namespace penstock::graph
