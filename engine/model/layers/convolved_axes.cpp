#include "engine/model/layers/convolved_axes.hpp"

#include <algorithm>

#include "engine/model/layers/padding.hpp"

namespace penstock {
namespace {

bool is_sound(std::int64_t number) {
  return number >= 1 && number <= largest_of_axis;
}

/// Returns the widths that give the result of a convolution the size of x.
PadWidths same_widths(const Composition& layer, const ConvolvedAxis& axis) {
  layer.expect(axis.padding == 0,
               "expected padding 0 beside same_padding, got " + std::to_string(axis.padding));
  layer.expect(axis.stride == 1,
               "expected stride 1, because same_padding is not supported for strided "
               "convolutions, got " +
                   std::to_string(axis.stride));
  // The convolution refuses other kernels and dilations.
  if (!is_sound(axis.kernel) || !is_sound(axis.dilation)) return {0, 0};
  const std::int64_t added = axis.extent() - 1;
  return {added / 2, added - added / 2};
}

/// Returns the name of axis number `i` behind the channels, of `count` ones.
std::string axis_name(std::size_t i, std::size_t count) {
  constexpr const char* names[] = {"depth", "rows", "columns"};
  return names[i + std::size(names) - count];
}

}  // namespace

void expect_sound(const Composition& layer, const ConvolvedAxis& axis) {
  for (const auto& [name, number] :
       {std::pair("kernel", axis.kernel), {"stride", axis.stride}, {"dilation", axis.dilation}})
    layer.expect(is_sound(number), "expected " + std::string(name) + " from 1 to " +
                                       std::to_string(largest_of_axis) + ", got " +
                                       std::to_string(number));
}

Value padded_input(const Composition& layer, Value x, std::span<ConvolvedAxis> axes,
                   const PaddedInput& input, const std::string& name) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    ConvolvedAxis& axis = axes[i];
    const PadWidths widths =
        input.same ? same_widths(layer, axis) : PadWidths{axis.padding, axis.padding};
    const bool by_convolution = input.mode == PadMode::constant && i >= input.first_by_convolution;
    layer.expect(by_convolution || (widths.before >= 0 && widths.before <= largest_of_axis),
                 "expected padding from 0 to " + std::to_string(largest_of_axis) + ", got " +
                     std::to_string(widths.before));
    axis.padding = by_convolution ? widths.before : 0;
    x = padded(layer, x, i + 2, {widths.before - axis.padding, widths.after - axis.padding},
               {.mode = input.mode}, inner_name(name, "pad_" + axis_name(i, axes.size())));
  }
  return x;
}

graph::Attributes attributes_of(const ConvolvedAxis& rows, const ConvolvedAxis& columns,
                                std::int64_t groups) {
  return {{"stride", pair({rows.stride, columns.stride})},
          {"padding", pair({rows.padding, columns.padding})},
          {"dilation", pair({rows.dilation, columns.dilation})},
          {"groups", groups}};
}

}  // namespace penstock
