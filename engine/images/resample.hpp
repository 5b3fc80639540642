// These pure functions resize images as Pillow does with its BILINEAR filter.
#pragma once

#include <cstdint>
#include <span>

namespace penstock {

/// A PlaneSize is the size of an image whose channels lie one behind the other.
struct PlaneSize {
  std::int64_t channels = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  std::int64_t elements() const noexcept { return channels * rows * columns; }
};

/// An ImageWindow is a part of an image, without the pixels outside it.
struct ImageWindow {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// A Resizing says how a part of an image becomes an image of another size.
struct Resizing {
  ImageWindow from = {};  ///< These pixels are resized, and the others play no role.
  /// The pixels of `from` become `rows` times `columns` pixels.
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  ImageWindow part = {};  ///< Only these of the resized pixels are computed.

  /// Returns a Resizing that computes all of the resized pixels.
  static Resizing whole(const ImageWindow& from, std::int64_t rows, std::int64_t columns) {
    return {from, rows, columns, {0, 0, rows, columns}};
  }
};

/// Resizes the image `from`, of the size `size`, and writes the result to `to`. None of the sizes
/// is 0. Beside the result, memory is allocated for one channel of it, and for the weights of the
/// pixels in a row and in a column of `from`. Bytes are computed as by Pillow, which rounds after
/// each of the two directions; numbers of f32 are rounded there, too.
void resize_image(std::span<const std::uint8_t> from, const PlaneSize& size,
                  const Resizing& resizing, std::uint8_t* to);
void resize_image(std::span<const float> from, const PlaneSize& size, const Resizing& resizing,
                  float* to);

}  // namespace penstock
