// An error of libpng is reported by a jump. A function that calls setjmp() has no variables with
// destructors, and neither have the callbacks that jump, so that no destructor is left out.
#include <png.h>

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string>

#include "engine/images/image_decoders.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

// What libpng keeps beside pixels takes this many bytes at most, and those of the file.
constexpr std::size_t most_bytes_beside_file = std::size_t{1} << 20;
// A byte of a deflate stream inflates to at most 1032 bytes.
constexpr std::uint64_t most_png_inflation = 1032;

/// A PngState is what libpng's callbacks see.
struct PngState {
  const std::uint8_t* next = nullptr;
  std::size_t bytes_left = 0;
  /// A larger block is not allocated: libpng would allocate whatever length a chunk claims to have.
  std::size_t most_block_bytes = 0;
  std::jmp_buf jump;
  char message[200] = {};
  bool out_of_memory = false;
};

[[noreturn]] void on_png_error(png_structp png, png_const_charp message) {
  auto* const state = static_cast<PngState*>(png_get_error_ptr(png));
  std::snprintf(state->message, sizeof state->message, "%s", message);
  std::longjmp(state->jump, 1);
}

void on_png_warning(png_structp, png_const_charp) {}

void read_png_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto* const state = static_cast<PngState*>(png_get_io_ptr(png));
  if (count > state->bytes_left) png_error(png, "truncated");
  std::memcpy(to, state->next, count);
  state->next += count;
  state->bytes_left -= count;
}

png_voidp allocate_for_png(png_structp png, png_alloc_size_t bytes) {
  auto* const state = static_cast<PngState*>(png_get_mem_ptr(png));
  if (bytes > state->most_block_bytes) return nullptr;
  void* const memory = std::malloc(bytes);
  if (!memory) state->out_of_memory = true;
  return memory;
}

void free_for_png(png_structp, png_voidp memory) {
  std::free(memory);
}

/// A PngReader reads one image: first its header, then its pixels.
class PngReader {
 public:
  explicit PngReader(std::span<const std::uint8_t> bytes) {
    state_.next = bytes.data();
    state_.bytes_left = bytes.size();
    state_.most_block_bytes = bytes.size() + most_bytes_beside_file;
    png_ = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &state_, on_png_error, on_png_warning,
                                    &state_, allocate_for_png, free_for_png);
    if (png_) info_ = png_create_info_struct(png_);
    if (info_) return;
    png_destroy_read_struct(&png_, nullptr, nullptr);
    refuse();
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  /// Reads the header, and asks for pixels of 8 bits per channel without a palette.
  bool read_header() noexcept {
    if (setjmp(state_.jump) != 0) return false;
    png_set_read_fn(png_, &state_, read_png_bytes);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    skip_texts();
    png_read_info(png_, info_);
    bytes_in_file_ = png_get_rowbytes(png_, info_);
    png_set_strip_16(png_);
    png_set_palette_to_rgb(png_);
    png_set_expand_gray_1_2_4_to_8(png_);
    if (png_get_valid(png_, info_, PNG_INFO_tRNS) != 0) png_set_tRNS_to_alpha(png_);
    passes_ = png_set_interlace_handling(png_);
    return true;
  }

  /// Passes over texts, color profiles and palettes for dithering, which may be compressed, and
  /// would take much more memory than the file. Other chunks that take memory have at most a
  /// megabyte.
  void skip_texts() noexcept {
#ifdef PNG_HANDLE_AS_UNKNOWN_SUPPORTED
    constexpr png_byte names[] = "tEXt\0zTXt\0iTXt\0iCCP\0sPLT";  // Each name ends with a NUL.
    constexpr int name_bytes = 5;
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, names,
                                static_cast<int>(sizeof names) / name_bytes);
#endif
    png_set_chunk_malloc_max(png_, png_alloc_size_t{1} << 20);
  }

  std::int64_t rows() const noexcept {
    return png_get_image_height(png_, info_);
  }
  std::int64_t columns() const noexcept {
    return png_get_image_width(png_, info_);
  }
  /// Returns how many bytes the pixels have, at least, before they are compressed.
  std::uint64_t least_bytes() const noexcept {
    return bytes_in_file_ * static_cast<std::uint64_t>(rows());
  }

  /// Makes what read_header() has asked for known to channels(). The number of pixels, which has
  /// been checked, bounds what is allocated for rows.
  bool begin_pixels() noexcept {
    if (setjmp(state_.jump) != 0) return false;
    const std::size_t most_block_bytes = state_.most_block_bytes;
    state_.most_block_bytes = std::numeric_limits<std::size_t>::max();
    png_read_update_info(png_, info_);
    state_.most_block_bytes = most_block_bytes;
    return png_get_rowbytes(png_, info_) ==
           static_cast<std::size_t>(columns()) * png_get_channels(png_, info_);
  }
  std::int64_t channels() const noexcept {
    return png_get_channels(png_, info_);
  }

  /// Reads the pixels to `pixels`, and what follows them.
  bool read_pixels(std::uint8_t* pixels) noexcept {
    if (setjmp(state_.jump) != 0) return false;
    const std::size_t row_bytes = png_get_rowbytes(png_, info_);
    for (int pass = 0; pass < passes_; ++pass)
      for (std::uint32_t row = 0; row < png_get_image_height(png_, info_); ++row)
        png_read_row(png_, pixels + row * row_bytes, nullptr);
    png_read_end(png_, info_);
    return true;
  }

  int orientation() const noexcept {
#ifdef PNG_eXIf_SUPPORTED
    png_uint_32 bytes = 0;
    png_bytep exif = nullptr;
    if (png_get_eXIf_1(png_, info_, &bytes, &exif) != 0) return exif_orientation({exif, bytes});
#endif
    return 1;
  }

  /// Throws what the last call has met.
  [[noreturn]] void refuse() const {
    if (state_.out_of_memory) throw std::bad_alloc();
    throw Error(Errc::corrupt_file, "damaged PNG image: " + printable(state_.message));
  }

 private:
  PngState state_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::uint64_t bytes_in_file_ = 0;
  int passes_ = 1;
};

}  // namespace

PixelImage decode_png(std::span<const std::uint8_t> bytes, std::int64_t most_pixels) {
  PngReader reader(bytes);
  if (!reader.read_header()) reader.refuse();
  check_pixels(reader.rows(), reader.columns(), most_pixels);
  if (reader.least_bytes() / most_png_inflation > bytes.size())
    throw Error(Errc::corrupt_file, "damaged PNG image: it claims more pixels than it can hold");
  if (!reader.begin_pixels()) reader.refuse();
  PixelImage image{
      .rows = reader.rows(), .columns = reader.columns(), .channels = reader.channels()};
  image.pixels.resize(static_cast<std::size_t>(image.rows * image.columns * image.channels));
  if (!reader.read_pixels(image.pixels.data())) reader.refuse();
  image.orientation = reader.orientation();
  return image;
}

}  // namespace penstock
