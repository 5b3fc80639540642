// An error of libjpeg is reported by a jump. A function that calls setjmp() has no variables with
// destructors, and neither have the callbacks that jump, so that no destructor is left out.
#include <algorithm>
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

#include <csetjmp>
#include <cstring>
#include <new>
#include <string>

#include "engine/images/image_decoders.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

// An image of many scans that say nothing would take time without end.
constexpr int most_scans = 500;

/// JpegErrors are libjpeg's manager of errors, which comes first so that libjpeg's pointer to the
/// manager is one to JpegErrors, and what our callbacks need.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = {};
};

[[noreturn]] void on_jpeg_error(j_common_ptr jpeg) {
  auto* const errors = reinterpret_cast<JpegErrors*>(jpeg->err);
  jpeg->err->format_message(jpeg, errors->message);
  std::longjmp(errors->jump, 1);
}

/// Takes warnings of lost pixels, which would be gray, for errors. What other warnings tell of
/// loses no pixel: superfluous bytes, an unknown version, or scans in an unusual order.
void on_jpeg_message(j_common_ptr jpeg, int level) {
  const int code = jpeg->err->msg_code;
  const bool loses_pixels = code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER ||
                            code == JWRN_HUFF_BAD_CODE || code == JWRN_ARITH_BAD_CODE ||
                            code == JWRN_MUST_RESYNC;
  if (level < 0 && loses_pixels) on_jpeg_error(jpeg);
}

void print_no_jpeg_message(j_common_ptr) {}

/// Returns how many scans an image may have, each of which goes through all pixels: fewer for large
/// images, so that the time is bounded.
int most_scans_of(const jpeg_decompress_struct& image) {
  constexpr std::int64_t most_visits = std::int64_t{1} << 31;
  constexpr std::int64_t least = 64;
  const std::int64_t pixels = std::int64_t{image.image_height} * image.image_width;
  return static_cast<int>(
      std::clamp<std::int64_t>(most_visits / std::max<std::int64_t>(pixels, 1), least, most_scans));
}

void count_scans(j_common_ptr jpeg) {
  const auto& image = *reinterpret_cast<j_decompress_ptr>(jpeg);
  const int most_scans = most_scans_of(image);
  if (image.input_scan_number <= most_scans) return;
  auto* const errors = reinterpret_cast<JpegErrors*>(jpeg->err);
  std::snprintf(errors->message, sizeof errors->message, "more than %d scans", most_scans);
  std::longjmp(errors->jump, 1);
}

/// A JpegReader reads one image: first its header, then its pixels.
class JpegReader {
 public:
  explicit JpegReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    jpeg_.err = jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = on_jpeg_error;
    errors_.manager.emit_message = on_jpeg_message;
    errors_.manager.output_message = print_no_jpeg_message;
    progress_.progress_monitor = count_scans;
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  /// Reads the header, and asks for gray, RGB or CMYK.
  bool read_header() noexcept {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_decompress(&jpeg_);
    jpeg_.progress = &progress_;
    jpeg_mem_src(&jpeg_, bytes_.data(), static_cast<unsigned long>(bytes_.size()));
    jpeg_save_markers(&jpeg_, JPEG_APP0 + 1, 0xffff);
    jpeg_read_header(&jpeg_, TRUE);
    const J_COLOR_SPACE color = jpeg_.jpeg_color_space;
    if (color == JCS_CMYK || color == JCS_YCCK)
      jpeg_.out_color_space = JCS_CMYK;
    else if (color != JCS_GRAYSCALE)
      jpeg_.out_color_space = JCS_RGB;
    return true;
  }

  std::int64_t rows() const noexcept { return jpeg_.image_height; }
  std::int64_t columns() const noexcept { return jpeg_.image_width; }
  bool is_cmyk() const noexcept { return jpeg_.out_color_space == JCS_CMYK; }

  bool begin_pixels() noexcept {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_start_decompress(&jpeg_);
    return true;
  }
  std::int64_t channels() const noexcept { return jpeg_.output_components; }

  /// Reads the pixels to `pixels`, and what follows them.
  bool read_pixels(std::uint8_t* pixels) noexcept {
    if (setjmp(errors_.jump) != 0) return false;
    while (jpeg_.output_scanline < jpeg_.output_height) {
      JSAMPROW row = pixels + std::size_t{jpeg_.output_scanline} * jpeg_.output_width *
                                  static_cast<std::size_t>(jpeg_.output_components);
      jpeg_read_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_decompress(&jpeg_);
    return true;
  }

  /// Returns the orientation of the EXIF data, which are known from read_header() on until the
  /// pixels were read.
  int orientation() const noexcept {
    constexpr char name[] = "Exif\0";  // The literal ends with the second NUL of the name.
    for (auto* marker = jpeg_.marker_list; marker; marker = marker->next)
      if (marker->data_length >= sizeof name && std::memcmp(marker->data, name, sizeof name) == 0)
        return exif_orientation({marker->data + sizeof name, marker->data_length - sizeof name});
    return 1;
  }

  /// Throws what the last call has met.
  [[noreturn]] void refuse() const {
    if (errors_.manager.msg_code == JERR_OUT_OF_MEMORY) throw std::bad_alloc();
    throw Error(Errc::corrupt_file, "damaged JPEG image: " + printable(errors_.message));
  }

 private:
  std::span<const std::uint8_t> bytes_;
  jpeg_decompress_struct jpeg_{};
  JpegErrors errors_{};
  jpeg_progress_mgr progress_{};
};

/// Makes RGB of CMYK. The bytes of CMYK are inverted, as Adobe's programs write them.
void make_rgb(PixelImage& image) {
  const auto pixels = static_cast<std::size_t>(image.rows * image.columns);
  const std::uint8_t* from = image.pixels.data();
  std::uint8_t* to = image.pixels.data();
  for (std::size_t i = 0; i < pixels; ++i, from += 4) {
    const int light = from[3];
    for (int channel = 0; channel < 3; ++channel) {
      const int product = (255 - from[channel]) * light + 128;
      *to++ = static_cast<std::uint8_t>(light - (((product >> 8) + product) >> 8));
    }
  }
  image.channels = 3;
  image.pixels.resize(pixels * 3);
}

}  // namespace

PixelImage decode_jpeg(std::span<const std::uint8_t> bytes, std::int64_t most_pixels) {
  JpegReader reader(bytes);
  if (!reader.read_header()) reader.refuse();
  check_pixels(reader.rows(), reader.columns(), most_pixels);
  const int orientation = reader.orientation();
  if (!reader.begin_pixels()) reader.refuse();
  PixelImage image{.rows = reader.rows(),
                   .columns = reader.columns(),
                   .channels = reader.channels(),
                   .orientation = orientation};
  image.pixels.resize(static_cast<std::size_t>(image.rows * image.columns * image.channels));
  if (!reader.read_pixels(image.pixels.data())) reader.refuse();
  if (reader.is_cmyk()) make_rgb(image);
  return image;
}

}  // namespace penstock
