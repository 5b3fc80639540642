#include "engine/images/image_file.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "engine/files/input_file.hpp"
#include "engine/images/image_decoders.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/memory.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Returns all bytes of a file, whose size was found when it was opened.
/// @throws Error invalid_data for a file that is larger than an image of `most_pixels` pixels can
/// be.
std::vector<std::uint8_t> all_bytes(const std::string& path, std::int64_t most_pixels) {
  InputFile file(path, printable(path));
  constexpr std::uint64_t beside_pixels = std::uint64_t{1} << 24, bytes_of_pixel = 16;
  if (file.bytes() > beside_pixels + bytes_of_pixel * static_cast<std::uint64_t>(most_pixels))
    throw Error(Errc::invalid_data, printable(path) + ": expected a file for at most " +
                                        std::to_string(most_pixels) + " pixels, got one of " +
                                        std::to_string(file.bytes()) + " bytes");
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(file.bytes()));
  bytes.resize(file.read(std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

bool begins_with(std::span<const std::uint8_t> bytes, std::string_view start) {
  return bytes.size() >= start.size() && std::memcmp(bytes.data(), start.data(), start.size()) == 0;
}

PixelImage decoded(std::span<const std::uint8_t> bytes, std::int64_t most_pixels) {
  if (begins_with(bytes, "\x89PNG\r\n\x1a\n")) return decode_png(bytes, most_pixels);
  if (begins_with(bytes, "\xff\xd8\xff")) return decode_jpeg(bytes, most_pixels);
  throw Error(Errc::corrupt_file, "expected a PNG or JPEG image, got something else");
}

}  // namespace

void check_image_options(const ImageOptions& options) {
  check_number("image_options.most_pixels", static_cast<double>(options.most_pixels), {1, 0x1p40});
}

ImagePlanes read_image_file(const std::string& path, const ImageOptions& options) {
  PixelImage image;
  {
    const std::vector<std::uint8_t> bytes = all_bytes(path, options.most_pixels);
    try {
      image = decoded(bytes, options.most_pixels);
    } catch (const Error& error) {
      throw Error(error.code(), printable(path) + ": " + error.what());
    }
  }
  if (options.exif_turn) image = upright(std::move(image));
  return {{channels_of(options.color), image.rows, image.columns}, planes_of(image, options.color)};
}

Tensor load_image(const std::string& path, const ImageOptions& options) {
  return on_hosts_thread("load_image", [&] {
    check_image_options(options);
    const auto image = std::make_shared<const ImagePlanes>(read_image_file(path, options));
    const auto [channels, rows, columns] = image->size;
    return Tensor::wrap(DType::u8, {channels, rows, columns},
                        {image, reinterpret_cast<const std::byte*>(image->pixels.data())});
  });
}

}  // namespace penstock
