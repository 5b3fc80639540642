// These pure functions change the colors of an image, whose numbers are 0 to 1, as the functions of
// torchvision with the same names do. An image has 1 or 3 channels, which lie one behind the other.
// The results are cut off at 0 and 1. A color of which a number is infinite or no number becomes
// three that are no numbers if its hue is changed.
#pragma once

#include <span>

namespace penstock {

/// Multiplies all numbers by `factor`.
void adjust_brightness(std::span<float> image, float factor);
/// Multiplies the distance of all numbers from the mean gray by `factor`.
void adjust_contrast(std::span<float> image, int channels, float factor);
/// Multiplies the distance of each color from its gray by `factor`. The image has 3 channels.
void adjust_saturation(std::span<float> image, float factor);
/// Adds `shift`, which is -0.5 to 0.5, to the hue. The image has 3 channels.
void adjust_hue(std::span<float> image, float shift);

}  // namespace penstock
