// A Normalizer converts a byte of an image to the number that a network is given. It has a table
// with the numbers of all 256 bytes. A PixelWriter hands out images normalized or as bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/dataset.hpp"

namespace penstock {

/// Checks that mean and std are finite and std is positive, and that they still are so when they
/// are rounded to f32. @throws Error invalid_argument, whose text begins with `subject`, if not.
void check_normalization(const std::string& subject, const Normalization& normalization);

class Normalizer {
 public:
  /// Makes the table of a normalization. @throws Error as check_normalization().
  explicit Normalizer(const Normalization& normalization);

  float operator()(std::uint8_t byte) const noexcept { return table_[byte]; }
  /// Writes the number of each of the bytes to `destination`, which has room for one float per
  /// byte.
  void apply(std::span<const std::uint8_t> bytes, float* destination) const noexcept;

 private:
  std::array<float, 256> table_;
};

/// A PixelFormat says how images of bytes are handed out: normalized or, without a Normalization,
/// as they are.
using PixelFormat = std::optional<Normalization>;

/// A PixelWriter writes the pixels of images, which are bytes, in one format.
class PixelWriter {
 public:
  /// Makes a writer of the format `format`. @throws Error as check_normalization().
  explicit PixelWriter(const PixelFormat& format);

  /// Returns the fields of an image with a label, which are image, f32 or u8
  /// [channels,rows,columns], and label, i64 [].
  std::vector<Field> fields(const Shape& image) const;
  /// Writes `pixels` to `destination`, which has room for one element of the field per pixel.
  void write(std::span<const std::uint8_t> pixels, std::byte* destination) const noexcept;

 private:
  std::optional<Normalizer> normalizer_;
};

}  // namespace penstock
