// These functions choose the part of an image that becomes a sample. What is drawn at random
// depends on the seed, the epoch and the number of the sample alone. All functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "engine/images/resample.hpp"
#include "penstock/dataset.hpp"
#include "penstock/transforms.hpp"

namespace penstock {

/// Checks that a result has pixels, and not too many. @throws Error invalid_argument, whose text
/// begins with `subject`.
void check_result_size(const std::string& subject, std::int64_t rows, std::int64_t columns);
/// Checks the options of random_resized_crop(). @throws Error invalid_argument.
void check_random_resized_crop(const RandomResizedCrop& crop);

/// Returns the window of `rows` times `columns` pixels, which the image has, in the middle of the
/// image. A middle between two pixels is rounded as Python does it.
ImageWindow center_window(const PlaneSize& image, std::int64_t rows, std::int64_t columns);
/// Returns the rows and columns of an image that was resized so that its shorter side has
/// `shorter_side` pixels.
std::pair<std::int64_t, std::int64_t> size_by_shorter_side(const PlaneSize& image,
                                                           std::int64_t shorter_side);
/// Returns the window that random_resized_crop() takes of an image.
ImageWindow random_window(const PlaneSize& image, const RandomResizedCrop& crop,
                          const SampleRequest& request);

}  // namespace penstock
