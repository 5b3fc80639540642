#include "engine/images/color_changes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace penstock {
namespace {

float cut_off(float x) {
  return std::clamp(x, 0.0f, 1.0f);
}

float luma_of(float red, float green, float blue) {
  return 0.2989f * red + 0.587f * green + 0.114f * blue;
}

float blended(float x, float other, float factor) {
  return cut_off(factor * x + (1 - factor) * other);
}

/// Calls `change` with references to the red, the green and the blue of each pixel.
void for_each_pixel(std::span<float> image, const auto& change) {
  const std::size_t pixels = image.size() / 3;
  for (std::size_t i = 0; i < pixels; ++i)
    change(image[i], image[pixels + i], image[2 * pixels + i]);
}

double mean_gray(std::span<float> image, int channels) {
  double sum = 0;
  if (channels == 3)
    for_each_pixel(image, [&](float r, float g, float b) { sum += luma_of(r, g, b); });
  else
    for (const float x : image) sum += x;
  return sum / (static_cast<double>(image.size()) / channels);
}

/// Returns the hue of a color whose largest and smallest component are `most` and `least`: 0 is
/// red, 1/3 green, and 2/3 blue.
float hue_of(float red, float green, float blue, float most, float least) {
  const float range = most == least ? 1 : most - least;
  const float r = (most - red) / range, g = (most - green) / range, b = (most - blue) / range;
  const float sixths = most == red ? b - g : most == green ? 2 + r - b : 4 + g - r;
  return std::fmod(sixths / 6 + 1, 1.0f);
}

/// Returns the color of a hue from 0 to 1 whose largest component is `value`.
std::array<float, 3> color_of(float hue, float saturation, float value) {
  const float sixths = std::floor(hue * 6), rest = hue * 6 - sixths;
  const float p = cut_off(value * (1 - saturation));
  const float q = cut_off(value * (1 - saturation * rest));
  const float t = cut_off(value * (1 - saturation * (1 - rest)));
  switch (static_cast<int>(sixths) % 6) {
    case 0:
      return {value, t, p};
    case 1:
      return {q, value, p};
    case 2:
      return {p, value, t};
    case 3:
      return {p, q, value};
    case 4:
      return {t, p, value};
    default:
      return {value, p, q};
  }
}

}  // namespace

void adjust_brightness(std::span<float> image, float factor) {
  for (float& x : image) x = cut_off(factor * x);
}

void adjust_contrast(std::span<float> image, int channels, float factor) {
  if (image.empty()) return;
  const auto mean = static_cast<float>(mean_gray(image, channels));
  for (float& x : image) x = blended(x, mean, factor);
}

void adjust_saturation(std::span<float> image, float factor) {
  for_each_pixel(image, [&](float& red, float& green, float& blue) {
    const float gray = luma_of(red, green, blue);
    for (float* const x : {&red, &green, &blue}) *x = blended(*x, gray, factor);
  });
}

void adjust_hue(std::span<float> image, float shift) {
  for_each_pixel(image, [&](float& red, float& green, float& blue) {
    const float most = std::max({red, green, blue}), least = std::min({red, green, blue});
    const float saturation = most == least ? 0 : (most - least) / most;
    const float shifted = hue_of(red, green, blue, most, least) + shift;
    const float hue = shifted - std::floor(shifted);
    const auto color =
        std::isnan(hue) ? std::array{hue, hue, hue} : color_of(hue, saturation, most);
    red = color[0];
    green = color[1];
    blue = color[2];
  });
}

}  // namespace penstock
