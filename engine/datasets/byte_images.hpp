// Images with labels, kept as bytes and normalised when they are read: what the readers of files
// make of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/dataset.hpp"

namespace penstock {

/// Fields image f32 [channels,rows,columns] and label i64 []. `pixels` are those of one image after
/// the other, as many images as there are labels.
/// @throws Error invalid_argument for a normalization that makes no sense.
std::shared_ptr<const Dataset> byte_images(const Shape& image, std::vector<std::uint8_t> pixels,
                                           std::vector<std::uint8_t> labels,
                                           const Normalization& normalization);

/// @throws Error invalid_data naming the file and the first sample in it whose label is `classes`
/// or more.
void check_labels(const std::string& path, std::span<const std::uint8_t> labels, int classes);

}  // namespace penstock
