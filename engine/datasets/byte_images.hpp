// byte_images() makes a dataset that keeps images with labels as bytes, and hands them out
// normalized or as bytes. read_idx() and read_cifar10() use it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/datasets/normalizer.hpp"
#include "penstock/dataset.hpp"

namespace penstock {

/// Returns a dataset with the fields of PixelWriter::fields().
/// `pixels` has the pixels of one image after the other, of as many images as there are labels.
/// @throws Error invalid_argument if check_normalization() refuses the normalization of `format`.
std::shared_ptr<const Dataset> byte_images(const Shape& image, std::vector<std::uint8_t> pixels,
                                           std::vector<std::uint8_t> labels,
                                           const PixelFormat& format);

/// Checks that every label of the file at `path` is below `classes`.
/// @throws Error invalid_data, which names the file and the first sample whose label is `classes`
/// or more.
void check_labels(const std::string& path, std::span<const std::uint8_t> labels, int classes);

}  // namespace penstock
