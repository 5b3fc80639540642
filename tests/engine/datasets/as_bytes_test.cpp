// These tests check that images handed out as bytes are those that are normalized otherwise, and
// that transforms of bytes choose the same windows and flips.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/data_loader.hpp"
#include "penstock/transforms.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/idx_bytes.hpp"
#include "tests/support/read_samples.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::data_path;
using testing::read_image;
using testing::refusal;

constexpr Normalization normalization{.mean = 0.1307, .std = 0.3081};

/// Returns what a reader that normalizes makes of `byte`.
float normalized(std::uint8_t byte) {
  return (static_cast<float>(byte) / 255.0f - static_cast<float>(normalization.mean)) /
         static_cast<float>(normalization.std);
}

/// Expects that the first `count` images of `bytes`, normalized by `number_of`, are those of
/// `numbers`, and that the labels are the same.
void expect_same_images(const Dataset& bytes, const Dataset& numbers, std::int64_t count,
                        float (*number_of)(std::uint8_t)) {
  ASSERT_EQ(bytes.size(), numbers.size());
  ASSERT_EQ(bytes.fields().size(), 2U);
  EXPECT_EQ(bytes.fields()[0].dtype, DType::u8);
  EXPECT_EQ(bytes.fields()[0].name, "image");
  EXPECT_EQ(bytes.fields()[0].shape, numbers.fields()[0].shape);
  EXPECT_EQ(bytes.fields()[1].dtype, DType::i64);
  std::vector<std::uint8_t> image(static_cast<std::size_t>(bytes.fields()[0].shape.elements()));
  std::int64_t label = -1;
  const std::vector<std::byte*> destinations{reinterpret_cast<std::byte*>(image.data()),
                                             reinterpret_cast<std::byte*>(&label)};
  for (std::int64_t i = 0; i < count; ++i) {
    bytes.read({.index = i}, destinations);
    const testing::LabelledImage expected = read_image(numbers, i);
    EXPECT_EQ(label, expected.label);
    for (std::size_t p = 0; p < image.size(); ++p)
      ASSERT_EQ(number_of(image[p]), expected.image[p]) << "pixel " << p << " of image " << i;
  }
}

TEST(AsBytes, AreTheImagesOfIdxFilesAndOfDigits) {
  const std::string mnist = data_path("mnist").string();
  for (const Split split : {Split::train, Split::test})
    expect_same_images(*read_idx(mnist, split, as_bytes), *read_idx(mnist, split, normalization), 5,
                       normalized);
  const std::vector<std::string> files = idx_files(mnist, Split::test);
  expect_same_images(*read_idx(files[0], files[1], as_bytes),
                     *read_idx(mnist, Split::test, normalization), 2, normalized);
  expect_same_images(*synthetic_digits(4, 7, as_bytes), *synthetic_digits(4, 7, normalization), 4,
                     normalized);
}

TEST(AsBytes, AreTheImagesOfCifar10) {
  const testing::TemporaryDirectory directory;
  std::string record(1, 3);
  for (int i = 0; i < 3 * 32 * 32; ++i) record += static_cast<char>(i * 7 % 256);
  testing::write_file(directory / "test_batch.bin", record + record);
  const auto over_255 = [](std::uint8_t byte) { return static_cast<float>(byte) / 255.0f; };
  const std::string path = directory.path().string();
  expect_same_images(*read_cifar10(path, Split::test, as_bytes), *read_cifar10(path, Split::test),
                     2, over_255);
  expect_same_images(*read_cifar10(cifar10_files(path, Split::test), as_bytes),
                     *read_cifar10(path, Split::test), 2, over_255);
}

TEST(AsBytes, RefuseWhatTheReaderOfNumbersRefuses) {
  const std::string mnist = data_path("mnist").string();
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { read_idx(mnist, Split::test, as_bytes, 0); }),
            "read_idx: expected at least 1 class, got 0");
  EXPECT_NE(refusal(Errc::invalid_data,
                    [&] {
                      read_idx(mnist, Split::test, as_bytes, 10, Shape{1, 28, 27});
                    })
                .find("expected images of [1,28,27], got [1,28,28]"),
            std::string::npos);
}

TEST(AsBytes, TakeAQuarterOfABatchsMemory) {
  const auto bytes_of_batch = [](std::shared_ptr<const Dataset> dataset) {
    DataLoader loader(std::move(dataset), 8, {.mode = LoaderMode::sync, .workers = 0});
    return loader.next()->front().bytes();
  };
  const std::size_t bytes = bytes_of_batch(synthetic_digits(8, 1, as_bytes));
  EXPECT_EQ(bytes, 8U * 28 * 28);
  EXPECT_EQ(bytes_of_batch(synthetic_digits(8, 1, normalization)), 4 * bytes);
}

TEST(AsBytes, AreCroppedAndFlippedAsNumbersAre) {
  // Padding is 0, as bytes and as numbers, so that the numbers here are not normalized.
  const auto plain = [](std::uint8_t byte) { return static_cast<float>(byte) / 255.0f; };
  const auto augmented = [](std::shared_ptr<const Dataset> dataset) {
    const RandomCrop crop{.rows = 26, .columns = 30, .padding = 2, .seed = 4};
    return random_horizontal_flip(random_crop(std::move(dataset), crop), {.seed = 5});
  };
  expect_same_images(*augmented(synthetic_digits(12, 7, as_bytes)),
                     *augmented(synthetic_digits(12, 7, Normalization())), 12, plain);
}

TEST(AsBytes, AreNotNormalizedWhileTheyAreRead) {
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [] {
                      normalize(synthetic_digits(1, 1, as_bytes), {{0.1}, {0.3}});
                    }),
            "normalize: expected f32 [channels,rows,columns] as first field, got \"image\" u8 "
            "[1,28,28]");
}

}  // namespace
}  // namespace penstock
