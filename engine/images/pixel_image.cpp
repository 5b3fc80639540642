#include "engine/images/pixel_image.hpp"

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "penstock/error.hpp"

namespace penstock {
namespace {

/// A TiffNumbers reads numbers in the order of bytes that TIFF data say.
class TiffNumbers {
 public:
  explicit TiffNumbers(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    if (bytes.size() >= 4) little_ = std::memcmp(bytes.data(), "II*", 4) == 0;
    valid_ = bytes.size() >= 8 && (little_ || std::memcmp(bytes.data(), "MM\0*", 4) == 0);
  }
  bool valid() const noexcept { return valid_; }
  /// Returns the number of `size` bytes at byte `at`, or 0 if the data end before.
  std::uint32_t number(std::size_t at, std::size_t size) const noexcept {
    if (at > bytes_.size() || bytes_.size() - at < size) return 0;
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < size; ++i)
      number = number << 8 | bytes_[at + (little_ ? size - 1 - i : i)];
    return number;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  bool little_ = false;
  bool valid_ = false;
};

/// Returns where in an image of this size the pixel of the upright image is that has the number
/// `row` and `column` there.
std::pair<std::int64_t, std::int64_t> place_before(const PixelImage& image, std::int64_t row,
                                                   std::int64_t column) {
  const std::int64_t bottom = image.rows - 1, right = image.columns - 1;
  switch (image.orientation) {
    case 2:
      return {row, right - column};
    case 3:
      return {bottom - row, right - column};
    case 4:
      return {bottom - row, column};
    case 5:
      return {column, row};
    case 6:
      return {bottom - column, row};
    case 7:
      return {bottom - column, right - row};
    case 8:
      return {column, right - row};
    default:
      return {row, column};
  }
}

std::uint8_t gray_of(const std::uint8_t* pixel) {
  // The weights 0.299, 0.587 and 0.114 are multiples of 2^-16 here.
  return static_cast<std::uint8_t>(
      (pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + 0x8000) >> 16);
}

/// Returns the byte of channel `channel` of a pixel of `channels` channels in another color.
std::uint8_t channel_of(const std::uint8_t* pixel, std::int64_t channels, ImageColor color,
                        std::int64_t channel) {
  const bool is_gray = channels < 3;
  if (color == ImageColor::gray) return is_gray ? pixel[0] : gray_of(pixel);
  if (channel < 3) return pixel[is_gray ? 0 : channel];
  return channels % 2 == 0 ? pixel[channels - 1] : 255;
}

}  // namespace

void check_pixels(std::int64_t rows, std::int64_t columns, std::int64_t most_pixels) {
  if (rows < 1 || columns < 1)
    throw Error(Errc::corrupt_file, "expected an image with pixels, got none");
  if (rows > most_pixels / columns)
    throw Error(Errc::invalid_data, "expected at most " + std::to_string(most_pixels) +
                                        " pixels, got " + std::to_string(columns) + "x" +
                                        std::to_string(rows));
}

int exif_orientation(std::span<const std::uint8_t> tiff) noexcept {
  constexpr std::uint32_t orientation_tag = 0x0112, of_16_bits = 3;
  constexpr std::size_t entry_bytes = 12;
  const TiffNumbers numbers(tiff);
  if (!numbers.valid()) return 1;
  const std::size_t directory = numbers.number(4, 4);
  const std::uint32_t entries = numbers.number(directory, 2);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * entry_bytes;
    if (numbers.number(entry, 2) != orientation_tag) continue;
    const std::uint32_t orientation = numbers.number(entry + 8, 2);
    const bool is_known = orientation >= 1 && orientation <= 8;
    return is_known && numbers.number(entry + 2, 2) == of_16_bits ? static_cast<int>(orientation)
                                                                  : 1;
  }
  return 1;
}

PixelImage upright(PixelImage image) {
  if (image.orientation == 1) return image;
  PixelImage turned{.rows = image.rows, .columns = image.columns, .channels = image.channels};
  if (image.orientation >= 5) std::swap(turned.rows, turned.columns);
  turned.pixels.resize(image.pixels.size());
  const auto channels = static_cast<std::size_t>(image.channels);
  std::uint8_t* to = turned.pixels.data();
  for (std::int64_t row = 0; row < turned.rows; ++row)
    for (std::int64_t column = 0; column < turned.columns; ++column, to += channels) {
      const auto [from_row, from_column] = place_before(image, row, column);
      const auto pixel = static_cast<std::size_t>(from_row * image.columns + from_column);
      std::memcpy(to, image.pixels.data() + pixel * channels, channels);
    }
  return turned;
}

std::int64_t channels_of(ImageColor color) noexcept {
  return color == ImageColor::gray ? 1 : color == ImageColor::rgb ? 3 : 4;
}

std::vector<std::uint8_t> planes_of(const PixelImage& image, ImageColor color) {
  const auto pixels = static_cast<std::size_t>(image.rows * image.columns);
  std::vector<std::uint8_t> planes(pixels * static_cast<std::size_t>(channels_of(color)));
  std::uint8_t* to = planes.data();
  for (std::int64_t channel = 0; channel < channels_of(color); ++channel) {
    const std::uint8_t* pixel = image.pixels.data();
    for (std::size_t i = 0; i < pixels; ++i, pixel += image.channels)
      *to++ = channel_of(pixel, image.channels, color, channel);
  }
  return planes;
}

}  // namespace penstock
