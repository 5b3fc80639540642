// The expected pixels are Pillow's; tests/tools/pillow_images.py has computed them.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "engine/images/pixel_image.hpp"
#include "penstock/error.hpp"
#include "penstock/images.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/drawn_images.hpp"
#include "tests/support/malloc_counter.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::refusal;

class ImageFiles : public ::testing::Test {
 protected:
  std::string path() const { return (directory_ / "image").string(); }
  Tensor load(const std::string& bytes, const ImageOptions& options = {}) {
    testing::write_file(path(), bytes);
    return load_image(path(), options);
  }
  Tensor drawn(const std::string& name, const ImageOptions& options = {}) {
    return load(images_.bytes(name), options);
  }
  /// Returns the text behind the name of the file.
  std::string refused(Errc code, const std::string& bytes, const ImageOptions& options = {}) {
    const std::string text = refusal(code, [&] { load(bytes, options); });
    return text.starts_with(path()) ? text.substr(path().size() + 2) : text;
  }

  testing::TemporaryDirectory directory_;
  testing::DrawnImages images_;
};

ImageColor color_called(const std::string& name) {
  return name == "rgb" ? ImageColor::rgb : name == "gray" ? ImageColor::gray : ImageColor::rgba;
}

/// Returns the largest difference of two pixels, or 256 if the images have not the same shape.
int farthest(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return 256;
  int farthest = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    farthest = std::max(farthest, std::abs(a.as<std::uint8_t>()[at] - b.as<std::uint8_t>()[at]));
  }
  return farthest;
}

// The pixels of a JPEG image depend on the version of libjpeg.
TEST_F(ImageFiles, HaveThePixelsThatPillowReads) {
  int compared = 0;
  for (const auto& [name, expected] : images_.all()) {
    const auto colon = name.find(": ");
    if (colon == name.npos) continue;
    const std::string file = name.substr(0, colon);
    const Tensor image = drawn(file, {.color = color_called(name.substr(colon + 2))});
    EXPECT_EQ(image.dtype(), DType::u8);
    EXPECT_LE(farthest(image, expected), file.ends_with(".jpg") ? 2 : 0) << name;
    ++compared;
  }
  EXPECT_GE(compared, 29);
}

TEST_F(ImageFiles, AreTurnedAsTheirExifDataSayUnlessToldOtherwise) {
  EXPECT_EQ(drawn("turned.jpg").shape(), (Shape{3, 21, 14}));
  EXPECT_EQ(drawn("turned.jpg", {.exif_turn = false}).shape(), (Shape{3, 14, 21}));
  EXPECT_EQ(drawn("turned_8.png").shape(), (Shape{3, 2, 3}));
  EXPECT_EQ(drawn("turned_8.png", {.exif_turn = false}).shape(), (Shape{3, 3, 2}));
}

TEST_F(ImageFiles, OfTooManyPixelsAreRefusedBeforeTheyAreDecoded) {
  EXPECT_EQ(refused(Errc::invalid_data, images_.bytes("rgb.png"), {.most_pixels = 293}),
            "expected at most 293 pixels, got 21x14");
  EXPECT_EQ(refused(Errc::invalid_data, images_.bytes("rgb.jpg"), {.most_pixels = 293}),
            "expected at most 293 pixels, got 21x14");
  EXPECT_EQ(drawn("rgb.jpg", {.most_pixels = 294}).shape(), (Shape{3, 14, 21}));
  // This header claims 65000 times 65000 pixels.
  std::string huge = images_.bytes("rgb.jpg");
  const auto frame = huge.find("\xff\xc0");
  ASSERT_NE(frame, huge.npos);
  huge.replace(frame + 5, 4, "\xfd\xe8\xfd\xe8");
  EXPECT_EQ(refused(Errc::invalid_data, huge), "expected at most 67108864 pixels, got 65000x65000");
}

/// Returns a PNG file of one chunk, whose header claims this size and 8 bits of gray.
std::string claiming(std::string columns, std::string rows, const std::string& crc) {
  return std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16) + columns + rows +
         std::string("\x08\0\0\0\0", 5) + crc;
}

TEST_F(ImageFiles, OfMorePixelsThanTheFileCanHoldAreRefused) {
  // The chunk is right, as its checksum shows: the image has 8192 times 8192 pixels.
  const std::string side("\0\0\x20\0", 4);
  const std::string end("\0\0\0\0IEND\xae\x42\x60\x82", 12);
  const std::string data("\0\0\0\0IDAT\x35\xaf\x06\x1e", 12);
  EXPECT_EQ(refused(Errc::corrupt_file, claiming(side, side, "\x57\xc1\x95\x85") + data + end),
            "damaged PNG image: it claims more pixels than it can hold");
}

std::string big_endian(std::size_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift);
  return bytes;
}

std::string png_chunk(const std::string& name, const std::string& content) {
  const std::string counted = name + content;
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(counted.data()), static_cast<uInt>(counted.size()));
  return big_endian(content.size()) + counted + big_endian(crc);
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
            reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 9);
  packed.resize(size);
  return packed;
}

/// Returns a right PNG file of black pixels with one bit each, and with `chunk` before the pixels.
std::string black_png(std::size_t rows, std::size_t columns, const std::string& chunk = "") {
  return "\x89PNG\r\n\x1a\n" +
         png_chunk("IHDR", big_endian(columns) + big_endian(rows) + std::string("\1\0\0\0\0", 5)) +
         chunk + png_chunk("IDAT", deflated(std::string(rows * (1 + (columns + 7) / 8), '\0'))) +
         png_chunk("IEND", "");
}

TEST_F(ImageFiles, OfFewBytesAndManyPixelsAreRefusedWithoutTheMemoryForThem) {
  const std::string bomb = black_png(16'384, 16'384);
  ASSERT_LT(bomb.size(), 100'000u);
  const std::uint64_t before = testing::malloc_bytes();
  testing::take_most_block_bytes();
  EXPECT_EQ(refused(Errc::invalid_data, bomb), "expected at most 67108864 pixels, got 16384x16384");
  EXPECT_LT(testing::malloc_bytes() - before, 2u << 20);
  EXPECT_LT(testing::take_most_block_bytes(), 2 << 20);
  EXPECT_EQ(load(black_png(300, 200)).shape(), (Shape{3, 300, 200}));
}

TEST_F(ImageFiles, WithTextsThatInflateAreReadWithoutTheMemoryForThem) {
  const std::string text(std::size_t{16} << 20, 'a'), packed = deflated(text);
  for (const auto& [name, start] : {std::pair<std::string, std::string>{"zTXt", {"a\0\0", 3}},
                                    {"iCCP", {"a\0\0", 3}},
                                    {"iTXt", {"a\0\1\0\0\0", 6}}}) {
    const std::string bomb = black_png(2, 2, png_chunk(name, start + packed));
    const std::uint64_t before = testing::malloc_bytes();
    EXPECT_EQ(load(bomb).shape(), (Shape{3, 2, 2})) << name;
    EXPECT_LT(testing::malloc_bytes() - before, 2u << 20) << name;
  }
}

TEST_F(ImageFiles, MayHaveRowsThatAreLongerThanTheFile) {
  EXPECT_EQ(load(black_png(2, 3'000'000)).shape(), (Shape{3, 2, 3'000'000}));
}

TEST_F(ImageFiles, WithAChunkThatClaimsGigabytesAreRefusedWithoutTheMemoryForIt) {
  for (const char* const name : {"eXIf", "PLTE", "tIME", "abCd"}) {
    const std::string claim = std::string("\x70\0\0\0", 4) + name + "II*";
    std::string before = black_png(2, 2), behind = before;
    before.insert(before.find("IDAT") - 4, claim);
    behind.insert(behind.find("IEND") - 4, claim);
    for (const std::string& bomb : {before, behind}) {
      const std::uint64_t start = testing::malloc_bytes();
      EXPECT_NE(refused(Errc::corrupt_file, bomb), "accepted") << name;
      EXPECT_LT(testing::malloc_bytes() - start, 2u << 20) << name;
    }
  }
}

TEST_F(ImageFiles, OfJpegMayHaveBytesBetweenTheirPartsThatBelongToNone) {
  const std::string whole = images_.bytes("rgb.jpg");
  const Tensor expected = load(whole);
  EXPECT_TRUE(testing::same_bits(load(whole + "more"), expected));
  std::string padded = whole;
  padded.insert(padded.size() - 2, "padding");
  EXPECT_TRUE(testing::same_bits(load(padded), expected));
  padded = whole;
  padded.insert(padded.find("\xff\xdb"), "padding");
  EXPECT_TRUE(testing::same_bits(load(padded), expected));
}

TEST_F(ImageFiles, OfProgressiveJpegMayLackLaterScans) {
  const std::string whole = images_.bytes("progressive.jpg");
  const auto first = whole.find("\xff\xda"), second = whole.find("\xff\xda", first + 2);
  ASSERT_NE(second, whole.npos);
  const Tensor blurred = load(whole.substr(0, second) + "\xff\xd9");
  EXPECT_EQ(blurred.shape(), (Shape{3, 14, 21}));
  EXPECT_FALSE(testing::same_bits(blurred, load(whole)));
}

// A flipped bit is either noticed, or it reads as other pixels.
TEST_F(ImageFiles, OfJpegWithAFlippedBitAreRefusedOrHaveAllTheirPixels) {
  const std::string whole = images_.bytes("rgb.jpg");
  int refusals = 0, images = 0;
  for (std::size_t bit = whole.find("\xff\xda") * 8; bit < whole.size() * 8; bit += 3) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    try {
      EXPECT_EQ(load(damaged).shape(), (Shape{3, 14, 21}));
      ++images;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::corrupt_file);
      ++refusals;
    }
  }
  EXPECT_GT(refusals, 10);
  EXPECT_GT(images, 10);
}

TEST_F(ImageFiles, ThatAreCutShortAreRefused) {
  for (const std::string name :
       {"rgb.png", "palette.png", "interlaced.png", "rgb.jpg", "progressive.jpg"}) {
    const std::string whole = images_.bytes(name);
    for (std::size_t size = whole.size() - 1; size > 0; size -= std::min<std::size_t>(size, 9))
      EXPECT_NE(refused(Errc::corrupt_file, whole.substr(0, size)), "accepted")
          << name << " " << size;
  }
}

TEST_F(ImageFiles, ThatAreDamagedAreRefusedInOneLine) {
  std::string png = images_.bytes("rgb.png");
  png[png.find("IEND") - 5] ^= 1;  // This is the last byte of the checksum of the pixels.
  EXPECT_EQ(refused(Errc::corrupt_file, png), "damaged PNG image: IDAT: CRC error");
  EXPECT_EQ(refused(Errc::corrupt_file, images_.bytes("rgb.jpg").substr(0, 200)),
            "damaged JPEG image: Premature end of JPEG file");
  EXPECT_EQ(refused(Errc::corrupt_file, "GIF89a"),
            "expected a PNG or JPEG image, got something else");
  EXPECT_EQ(refused(Errc::corrupt_file, ""), "expected a PNG or JPEG image, got something else");
  EXPECT_EQ(refusal(Errc::io_error, [&] { load_image(path() + "2"); }), path() + "2: no such file");
  EXPECT_EQ(refused(Errc::invalid_argument, "", {.most_pixels = 0}),
            "image_options.most_pixels: expected 1 to 1099511627776, got 0");
}

TEST_F(ImageFiles, ThatAreDamagedLeaveNothingOnTheErrorStream) {
  ::testing::internal::CaptureStderr();
  refused(Errc::corrupt_file, images_.bytes("rgb.jpg").substr(0, 300));
  refused(Errc::corrupt_file, images_.bytes("rgb.png").substr(0, 100));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(ExifOrientation, IsFoundInEitherOrderOfBytes) {
  const auto orientation = [](std::string tiff) {
    return exif_orientation({reinterpret_cast<const std::uint8_t*>(tiff.data()), tiff.size()});
  };
  const std::string big("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x05\0\0", 22);
  const std::string little("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x05\0\0\0", 22);
  EXPECT_EQ(orientation(big), 5);
  EXPECT_EQ(orientation(little), 5);
  for (std::size_t size = 0; size < 20; ++size) EXPECT_EQ(orientation(big.substr(0, size)), 1);
  std::string other = big;
  other[19] = 9;
  EXPECT_EQ(orientation(other), 1);
  other[7] = '\xff';
  EXPECT_EQ(orientation(other), 1);
  EXPECT_EQ(orientation(std::string("MM\0*\xff\xff\xff\xff", 8)), 1);
}

}  // namespace
}  // namespace penstock
