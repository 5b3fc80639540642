// The convolutions of Model share these declarations: how their kernels lie along each axis, what
// is put around their input, and what they check.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/model/layers/composition.hpp"
#include "engine/model/layers/inputs.hpp"
#include "penstock/convolution_options.hpp"

namespace penstock {

/// Convolutions take no larger number for an axis.
inline constexpr std::int64_t largest_of_axis = std::int64_t{1} << 30;

/// A ConvolvedAxis says how the kernel of a convolution slides along one axis.
struct ConvolvedAxis {
  std::int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;

  /// Returns how many elements the kernel covers, from the first to the last.
  std::int64_t extent() const noexcept { return dilation * (kernel - 1) + 1; }
};

/// Checks that no number is so small or so large that sizes cannot be computed with it.
void expect_sound(const Composition& layer, const ConvolvedAxis& axis);

/// A PaddedInput says what is put around the input of a convolution, apart from the widths of the
/// axes.
struct PaddedInput {
  bool same = false;  ///< The result is to be as large as x (Conv2dOptions::same_padding).
  PadMode mode = PadMode::constant;
  /// Along the axes from this one on, the convolution itself can add zeros, as many at the end of
  /// an axis as at its beginning.
  std::size_t first_by_convolution = 0;
};

/// Pads x along `axes`, which are those behind the channels, as far as the convolution itself does
/// not do it, and returns the padded x. What is left to the convolution is written to `axes`. The
/// nodes of the layer `name` are called NAME/pad_rows and so on.
Value padded_input(const Composition& layer, Value x, std::span<ConvolvedAxis> axes,
                   const PaddedInput& input, const std::string& name);

/// Returns the attributes of a convolution of images.
graph::Attributes attributes_of(const ConvolvedAxis& rows, const ConvolvedAxis& columns,
                                std::int64_t groups);

/// Returns the name of an inner node of the layer `name`, or no name if the layer has none.
inline std::string inner_name(const std::string& name, const std::string& part) {
  return name.empty() ? "" : name + "/" + part;
}

/// Checks the sizes of a layer whose parameters they decide.
template <class Options>
void expect_sizes(const Composition& layer, const Options& options,
                  std::span<const ConvolvedAxis> axes) {
  layer.expect_positive("out_channels", options.out_channels);
  for (const ConvolvedAxis& axis : axes) layer.expect_positive("kernel", axis.kernel);
  layer.expect_positive("groups", options.groups);
}

/// Returns how many channels of the result of a transposed convolution each group has.
/// @throws Error shape_mismatch if the channels do not divide into groups.
template <class Options>
std::int64_t outputs_of_group(const Composition& layer, const Options& options) {
  const std::int64_t outputs = options.out_channels / options.groups;
  layer.expect(outputs * options.groups == options.out_channels,
               "expected a number of out_channels that divides into " +
                   std::to_string(options.groups) + " groups, got " +
                   std::to_string(options.out_channels));
  return outputs;
}

/// Checks that `options` leave it to the weight and the bias what these decide.
template <class Options>
void expect_undecided(std::string_view layer, const Options& options) {
  if (options.out_channels == 0 && options.kernel == 0 && options.bias) return;
  throw Error(Errc::invalid_argument,
              std::string(layer) +
                  ": expected options without out_channels, kernel and bias, because the "
                  "convolution has the weight and the bias of another layer");
}

}  // namespace penstock
